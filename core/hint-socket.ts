import { createHmac, timingSafeEqual } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { type Clock, SECOND } from './clock.ts'
import type { Logger } from './log.ts'

/** Where a process takes messages. */
export interface HintAddress {
  address: string
  port: number
}

interface HintSocket {
  at: HintAddress
  /** Sends without waiting: a message that is lost is missed by nobody but for the time that it would have saved. */
  send(text: string, to: HintAddress): void
  stop(): Promise<void>
}

const MAC_BYTES = 16
/** No message of ours is longer: what is costs nothing but its arrival. */
const MOST_BYTES = 256
/** A message that is older, or as much ahead of this machine's clock, is none: one that was overheard is of no use for longer. */
const FRESH_MS = 10 * SECOND

/**
 * Datagrams between processes of the service: `MAC (16 bytes) | Unix ms | space | text`, under a key that they share. Whatever else arrives is
 * dropped unread, and nothing is ever answered.
 */
export async function openHintSocket({
  host,
  port,
  keys,
  hear,
  clock,
  log,
}: {
  host: string
  /** 0: a free one. */
  port: number
  /** What is sent is signed with the first; what arrives may be signed with any. */
  keys: Buffer[]
  hear: (text: string) => void
  clock: Clock
  log: Logger
}): Promise<HintSocket> {
  const address = await ownAddress(host)
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
  const [signingKey] = keys
  if (!signingKey) throw new Error('messages need a key')
  socket.on('message', (bytes) => {
    if (bytes.length > MOST_BYTES) return
    const [mac, signed] = [bytes.subarray(0, MAC_BYTES), bytes.subarray(MAC_BYTES)]
    if (mac.length < MAC_BYTES || !keys.some((key) => timingSafeEqual(mac, macOf(signed, key)))) return
    const [sentAt = '', text = ''] = signed.toString().split(' ')
    if (Math.abs(clock.now().getTime() - Number(sentAt)) <= FRESH_MS) hear(text)
  })
  // Exclusive: workers of one cluster would share it.
  socket.bind({ address, port, exclusive: true })
  try {
    await once(socket, 'listening')
  } catch (error) {
    socket.close()
    throw error
  }
  socket.on('error', (error) => log.warn({ err: error }, 'messages between processes'))
  socket.unref()
  return {
    at: { address, port: socket.address().port },
    send: (text, to) => {
      const signed = Buffer.from(`${clock.now().getTime()} ${text}`)
      const message = Buffer.concat([macOf(signed, signingKey), signed])
      socket.send(message, to.port, to.address, () => undefined)
    },
    stop: async () => {
      const closed = once(socket, 'close')
      socket.close()
      await closed
    },
  }
}

const macOf = (signed: Buffer, key: Buffer): Buffer =>
  createHmac('sha256', key).update(signed).digest().subarray(0, MAC_BYTES)

const ANY = new Set(['0.0.0.0', '::'])

/** The address by which others reach a process that listens at `host`: of one that listens everywhere, the machine's first. */
async function ownAddress(host: string): Promise<string> {
  const { address } = await lookup(host)
  if (!ANY.has(address)) return address
  const outward = Object.values(networkInterfaces()).flatMap((list = []) => list.filter(({ internal }) => !internal))
  return (outward.find(({ family }) => family === 'IPv4') ?? outward[0])?.address ?? '127.0.0.1'
}
