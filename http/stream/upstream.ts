import { WebSocket } from 'ws'
import { SECOND } from '../../core/clock.ts'
import type { Runtime } from '../../core/process.ts'
import type { Lease } from '../../schemas/lease/lease.ts'
import { signTicket } from '../../schemas/lease/stream-ticket.ts'
import { CLOSE_ENDED, CLOSE_LEFT, CLOSE_PROTOCOL, CLOSE_REPLACED, SILENCE_MS } from '../../wire/stream-constants.ts'
import { keepPulse } from './pulse.ts'

const HANDSHAKE_MS = 3 * SECOND
/** Bytes that may wait in one direction before the other side is read no further. */
const HIGH_WATER = 512 * 1024
const DRAIN_LOOK_MS = 20
/** A frame of the largest screen at the best quality, many times over. */
const FARM_MESSAGE_BYTES = 16 * 1024 * 1024

/** What a browser closes a socket with when its page goes (RFC 6455, 7.4.1). */
const GOING_AWAY = 1001

/** How one connection to a farm node came to its end. */
type UpstreamEnd =
  /** It never came about: the node is gone, or does not hold the lease any more. */
  | 'unreachable'
  /** It broke off, or the node gave the lease up. */
  | 'moved'
  | 'replaced'
  /** The page has sent what no page of ours sends. */
  | 'odd'
  | 'ended'

/** Joins the visitor's socket to the node that holds the lease, until either goes away. Resolves once nothing of it is left. */
export function relayTo({
  lease,
  page,
  runtime: { keyring, clock },
}: {
  lease: Lease & { nodeId: string; nodeUrl: string }
  page: WebSocket
  runtime: Pick<Runtime, 'keyring' | 'clock'>
}): Promise<UpstreamEnd> {
  const ticket = signTicket({ leaseId: lease._id, nodeId: lease.nodeId, keyring, now: clock.now() })
  const farm = new WebSocket(`${lease.nodeUrl}/?ticket=${ticket}`, {
    handshakeTimeout: HANDSHAKE_MS,
    maxPayload: FARM_MESSAGE_BYTES,
    perMessageDeflate: false,
  })
  const forward = (from: WebSocket, to: WebSocket, data: Buffer, isBinary: boolean): void => {
    if (to.readyState !== WebSocket.OPEN) return
    to.send(data, { binary: isBinary })
    if (to.bufferedAmount > HIGH_WATER && !from.isPaused) holdBack(from, to)
  }
  const holdBack = (from: WebSocket, to: WebSocket): void => {
    from.pause()
    const look = (): void => {
      if (to.readyState === WebSocket.OPEN && to.bufferedAmount > HIGH_WATER) clock.timer(DRAIN_LOOK_MS, look)
      else from.resume()
    }
    look()
  }
  return new Promise((resolve) => {
    let opened = false
    const fromPage = (data: Buffer, isBinary: boolean): void => forward(page, farm, data, isBinary)
    const pageGone = (code: number): void => (code === GOING_AWAY ? farm.close(CLOSE_LEFT) : farm.close())
    page.on('message', fromPage)
    page.once('close', pageGone)
    if (page.readyState !== WebSocket.OPEN) farm.terminate()
    farm.on('message', (data: Buffer, isBinary: boolean) => {
      opened = true
      forward(farm, page, data, isBinary)
    })
    // A node that is frozen, or out of reach, closes nothing.
    farm.once('open', () => keepPulse({ socket: farm, clock, silenceMs: SILENCE_MS }))
    // The close that follows says the same.
    farm.on('error', () => undefined)
    farm.once('close', (code) => {
      page.off('message', fromPage)
      page.off('close', pageGone)
      resolve(endOf(code, opened))
    })
  })
}

function endOf(code: number, opened: boolean): UpstreamEnd {
  if (code === CLOSE_ENDED) return 'ended'
  if (code === CLOSE_REPLACED) return 'replaced'
  if (code === CLOSE_PROTOCOL) return 'odd'
  return opened ? 'moved' : 'unreachable'
}
