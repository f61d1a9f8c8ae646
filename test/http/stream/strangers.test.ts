import { connect } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { type HttpProcess, startHttpProcess } from '../../support/http-process.ts'

/** A server that neither answers nor hangs up on one of these has a request of a stranger on its hands for no reason. */
const LONGEST_MS = 12_000
let world: HttpWorld
let process: HttpProcess
test.before(async () => {
  world = await startHttpWorld()
  process = await startHttpProcess({ ...world.env })
})
test.after(async () => {
  assert.is(await process.stop(), 0)
  await world.stop()
})

const TARGETS = [
  '/',
  '//',
  '///',
  '//[',
  '/\\',
  '*',
  'http://',
  'http://[::1',
  'http://%zz/',
  '//user:pass@:99999999/start/stream',
  '/start/stream',
  '/start/stream?flow=%E0%A4%A',
  '/start//stream',
  '/%',
  '/start/%ff?token=%',
  '/start?token[]=x&token=y&__proto__=z',
  `/manage?token=${'x'.repeat(9_000)}`,
  '/assets/%00',
  '/assets/..%2f..%2fpackage.json',
  '/assets/theme-%.css',
  '/a b',
  '',
  '/é',
]
const HEADERS: string[][] = [
  [],
  ['Host: ['],
  ['Host: a', 'Host: b'],
  ['Host: x', 'Origin: ['],
  ['Host: x', `Cookie: ccs_start=${'A'.repeat(2_000)}`, 'Origin: {origin}'],
  ['Host: x', 'Cookie: ;;=;ccs_start', 'Origin: {origin}'],
  ['Host: x', 'X-Forwarded-Host: //', 'X-Forwarded-For: ,,,', 'X-Request-Id: \u0001'],
]
const UPGRADES: string[][] = [
  [],
  ['Connection: Upgrade', 'Upgrade: websocket'],
  ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Key: x', 'Sec-WebSocket-Version: 13'],
  [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 99',
  ],
  [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Extensions: ;;;,=',
    'Sec-WebSocket-Protocol: ,,',
  ],
  ['Connection: Upgrade', 'Upgrade: h2c'],
]
const METHODS = ['GET', 'POST', 'CONNECT', 'OPTIONS']

/** Sends bytes, and hangs up when an answer came or the other side did. */
function send(text: string): Promise<void> {
  const { hostname, port } = new URL(process.url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    const late = setTimeout(
      () => reject(new Error(`neither an answer nor an end: ${JSON.stringify(text.slice(0, 200))}`)),
      LONGEST_MS,
    )
    socket.on('close', () => {
      clearTimeout(late)
      resolve()
    })
    socket.on('error', () => undefined)
    socket.on('data', () => socket.resetAndDestroy())
    socket.end(text)
  })
}

test('no request line, header or upgrade of a stranger ends the process', async () => {
  const { BASE_URL: origin } = world.runtime.config
  const requests = METHODS.flatMap((method) =>
    TARGETS.flatMap((target) =>
      HEADERS.flatMap((headers) =>
        UPGRADES.map((upgrade) =>
          [`${method} ${target} HTTP/1.1`, ...headers, ...upgrade, '', ''].join('\r\n').replace('{origin}', origin),
        ),
      ),
    ),
  )
  requests.push(
    '\r\n\r\n',
    '\0\0\0',
    'GET',
    'GET / HTTP/9.9\r\n\r\n',
    `GET / HTTP/1.1\r\n${'x: y\r\n'.repeat(3_000)}\r\n`,
  )
  for (let at = 0; at < requests.length; at += 50) await Promise.all(requests.slice(at, at + 50).map(send))
  assert.is(process.child.exitCode, null)
  assert.is(process.child.signalCode, null)
  const answer = await fetch(`${process.url}/healthz`)
  assert.is(answer.status, 200)
})

test.run()
