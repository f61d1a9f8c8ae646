import { createHmac, randomBytes } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { MINUTE, systemClock } from '../../core/clock.ts'
import { openHintSocket } from '../../core/hint-socket.ts'
import { createLog } from '../../core/log.ts'
import { until } from '../support/until.ts'

const messages = suite('messages between processes')
const [key, earlier, foreign] = [randomBytes(32), randomBytes(32), randomBytes(32)]
const heard: string[] = []
const open = (keys: Buffer[], hear: (text: string) => void = () => undefined) =>
  openHintSocket({
    host: '127.0.0.1',
    port: 0,
    keys,
    hear,
    clock: systemClock(),
    log: createLog({ name: 'test', level: 'silent' }),
  })
const receiver = await open([key, earlier], (text) => heard.push(text))
messages.after(() => receiver.stop())

/** What has been heard once a message has arrived that was sent after everything else. */
async function heardSoFar(): Promise<string[]> {
  const sender = await open([key])
  await until('the last message', () => {
    sender.send('last', receiver.at)
    return heard.includes('last')
  })
  await sender.stop()
  return heard.splice(0).filter((text) => text !== 'last')
}

messages('what is signed with a key of the service is heard, also with an earlier one', async () => {
  for (const signingKey of [key, earlier]) {
    const sender = await open([signingKey])
    await until('the message', () => {
      sender.send('commands', receiver.at)
      return heard.includes('commands')
    })
    await sender.stop()
    await heardSoFar()
  }
})

messages('what strangers send, what was changed, and what is old is not', async () => {
  const stranger = createSocket('udp4')
  const send = (bytes: Buffer) =>
    new Promise<void>((resolve, reject) =>
      stranger.send(bytes, receiver.at.port, receiver.at.address, (error) => (error ? reject(error) : resolve())),
    )
  const signed = (text: string, by = key) =>
    Buffer.concat([createHmac('sha256', by).update(text).digest().subarray(0, 16), Buffer.from(text)])
  const now = Date.now()
  const changed = signed(`${now} commands`)
  changed.writeUInt8(changed.readUInt8(0) ^ 1)
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from('x'),
    randomBytes(16),
    randomBytes(1_000),
    Buffer.from(`${now} commands`),
    changed,
    signed(`${now} commands`, foreign),
    signed(`${now - MINUTE} commands`),
    signed(`${now + MINUTE} commands`),
    signed('commands'),
    signed(`${now} commands,${'x'.repeat(300)}`),
  ])
    await send(bytes)
  assert.equal(await heardSoFar(), [])
  stranger.close()
})

messages.run()
