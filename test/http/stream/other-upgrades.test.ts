import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openConnections } from '../../../http/kit/open-connections.ts'
import { ignoreUpgrade } from '../../../http/stream/ignore-upgrade.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { until } from '../../support/until.ts'

const upgrades = suite('upgrades that the service does not know are ignored')
let world: HttpWorld
upgrades.before(async () => {
  world = await startHttpWorld()
})
upgrades.after(() => world.stop())

const OFFER = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAA\r\n'

/** Sends pieces one after the other on one connection and returns all that comes until the service closes it. */
async function exchange(...pieces: string[]): Promise<string> {
  const { hostname, port } = new URL(world.url)
  const socket = connect(Number(port), hostname)
  let answers = ''
  socket.on('data', (chunk) => {
    answers += chunk.toString('latin1')
  })
  const closed = once(socket, 'close')
  for (const piece of pieces) {
    socket.write(piece)
    await sleep(50)
  }
  await closed
  return answers
}
const statuses = (answers: string): number[] =>
  [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => Number(code))

upgrades('a request is answered as it would be without, and the connection goes on', async () => {
  const get = `GET /api/connections HTTP/1.1\r\nHost: x\r\n${OFFER}\r\n`
  const last = 'GET /api/connections HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  const answers = await exchange(get, get, last)
  assert.equal(statuses(answers), [401, 401, 401])
  assert.match(answers, 'Missing Authorization header')
})

upgrades('its body comes whole, however it is cut', async () => {
  const body = JSON.stringify({ action: 'start', token: 'x'.repeat(20_000) })
  const head = `POST /api/connect-native HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n${OFFER}\r\n`
  const last = 'GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
  for (const cut of [0, 7, body.length]) {
    const answers = await exchange(`${head}${body.slice(0, cut)}`, body.slice(cut), last)
    assert.equal(statuses(answers), [400, 404], `cut at ${cut}`)
    assert.match(answers, 'Malformed token')
  }
})

upgrades('a connection that offers one again and again is one connection, and leaves nothing behind', async () => {
  const server = createServer((_request, response) => response.end())
  const count = openConnections(server)
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => sockets.add(socket))
  server.on('upgrade', (request, socket, head) => ignoreUpgrade({ server, request, socket, head }))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const offer = async () => {
    client.write(`GET / HTTP/1.1\r\nHost: x\r\n${OFFER}\r\n`)
    await once(client, 'data')
  }
  const listeners = () =>
    [...sockets].flatMap((socket) => socket.eventNames().map((name) => socket.listenerCount(name)))
  await offer()
  await offer()
  const before = listeners()
  for (let time = 0; time < 20; time++) await offer()
  assert.is(count(), 1)
  assert.equal(listeners(), before)
  client.destroy()
  await until('the connection to be gone', () => count() === 0)
  server.close()
})

upgrades.run()
