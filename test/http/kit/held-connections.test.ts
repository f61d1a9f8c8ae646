import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { until } from '../../support/until.ts'

let world: HttpWorld
test.before(async () => {
  world = await startHttpWorld()
})
test.after(() => world.stop())

/** A client that never hangs up. */
async function open(): Promise<Socket> {
  const { hostname, port } = new URL(world.url)
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true })
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  return socket
}

const held = (): Promise<number> =>
  new Promise((resolve, reject) =>
    world.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  )

test('an upgrade that is refused holds no connection, whether or not the client hangs up', async () => {
  const socket = await open()
  socket.resume()
  socket.write('GET /x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
  await once(socket, 'end')
  await until('the connection to be let go', async () => (await held()) === 0)
  socket.destroy()
})

test('a client that asks and asks without reading answers is hung up on', async () => {
  const socket = await open()
  let asked = 0
  world.server.on('request', () => {
    asked++
  })
  socket.write('GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(400))
  await until('the connection to be ended', async () => asked > 0 && (await held()) === 0)
  socket.destroy()
})

test('a few requests that are sent at once are answered in their order', async () => {
  const socket = await open()
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk
  })
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(8))
  await until('eight answers', async () => text.split('HTTP/1.1 200').length === 9)
  socket.destroy()
})

test('a connection on which nothing moves ends', () => {
  assert.ok(world.server.timeout > 4 * 60_000 && world.server.timeout <= 10 * 60_000)
})

test.run()
