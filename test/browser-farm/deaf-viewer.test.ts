import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { WebSocket, WebSocketServer } from 'ws'
import { createViewer } from '../../browser-farm/viewer.ts'
import { systemClock } from '../../core/clock.ts'
import { until } from '../support/until.ts'

const deaf = suite('a page that acknowledges frames without reading them')

const FRAME_BYTES = 256 * 1024
/** What one socket may hold on this side: less than two seconds of a large moving picture. */
const MOST_BYTES = 2 * 1024 * 1024
const nothing = (): void => undefined

async function pair() {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
  await once(server, 'listening')
  const page = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`, { perMessageDeflate: false })
  const [[socket]] = await Promise.all([once(server, 'connection') as Promise<[WebSocket]>, once(page, 'open')])
  const viewer = createViewer({
    socket,
    clock: systemClock(),
    onInput: nothing,
    onVisibility: nothing,
    onQuality: nothing,
    onClose: nothing,
  })
  const stop = (): void => {
    page.terminate()
    server.close()
  }
  return { page, socket, viewer, stop }
}

deaf('is sent no more than it reads, and the newest frame once it does', async () => {
  const { page, socket, viewer, stop } = await pair()
  page.pause()
  const acknowledge = async (frame: number): Promise<void> => {
    const heard = once(socket, 'message')
    page.send(JSON.stringify({ type: 'ack', frame }))
    await heard
  }
  let largest = 0
  for (let frame = 1; frame <= 100; frame++) {
    viewer.show({ width: frame, height: 1, jpeg: Buffer.alloc(FRAME_BYTES) })
    await acknowledge(4_000_000_000)
    largest = Math.max(largest, socket.bufferedAmount)
  }
  assert.ok(largest <= MOST_BYTES, `${largest} bytes wait`)
  let newest = 0
  page.on('message', (data: Buffer) => {
    newest = data.readUInt16BE(4)
  })
  page.resume()
  await until('the newest frame', async () => {
    await acknowledge(4_000_000_000)
    return newest === 100
  })
  stop()
})

deaf('is told no more than it reads', async () => {
  const { page, socket, viewer, stop } = await pair()
  page.pause()
  let largest = 0
  const message = { type: 'copied', text: 'x'.repeat(FRAME_BYTES) } as const
  for (let count = 0; count < 100; count++) {
    viewer.tell(message)
    largest = Math.max(largest, socket.bufferedAmount)
  }
  assert.ok(largest <= 3 * MOST_BYTES, `${largest} bytes wait`)
  stop()
})

deaf.run()
