import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type GuardProxies, startGuardProxies } from '../../browser-farm/guard-proxy.ts'
import { type Listener, startListener } from '../../browser-farm/listener.ts'
import { createRuntime } from '../../core/process.ts'
import { sandboxProfile } from '../../provider/profile.ts'

const strangers = suite('what strangers and odd providers send ends a socket, never the process')

/** Where the exceptions of listeners end that nobody caught: in production they end the process. */
const uncaught: unknown[] = []
const note = (error: unknown): void => void uncaught.push(error)
const GIVE_UP_MS = 5_000
/** What is not said within this is not said at all. */
const QUIET_MS = 30

const runtime = createRuntime({
  kind: 'test',
  env: {
    MONGODB_URL: 'mongodb://127.0.0.1:1/none',
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BASE_URL: 'http://127.0.0.1:1',
    OPERATOR_KEY: 'operator-key-of-the-tests-0123456789',
    PROVIDER_SITE: 'http://127.0.0.1:1',
    LOG_LEVEL: 'silent',
  },
})

let provider: Server
/** What the provider answers, whatever it is asked. */
let odd = Buffer.alloc(0)
let proxies: GuardProxies
let listener: Listener
let profile: ReturnType<typeof sandboxProfile>
let ports: { farm: number; proxy: number; provider: number }
strangers.before(async () => {
  process.on('uncaughtException', note)
  process.on('unhandledRejection', note)
  provider = createServer((socket) => {
    socket.on('error', () => socket.destroy())
    socket.once('data', () => socket.end(odd))
  })
  provider.listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const port = (provider.address() as { port: number }).port
  profile = sandboxProfile(`http://127.0.0.1:${port}`)
  proxies = await startGuardProxies([profile])
  listener = await startListener({ runtime, nodeId: 'node' })
  ports = {
    farm: Number(new URL(listener.url).port),
    proxy: Number(new URL(proxies.url(profile)).port),
    provider: port,
  }
})
strangers.after(async () => {
  process.off('uncaughtException', note)
  process.off('unhandledRejection', note)
  await listener?.stop()
  await proxies?.stop()
  provider?.close()
})

/** Sends the bytes and reads until the other side has closed or has said something; `patienceMs` later the sender hangs up. */
async function exchange(port: number, bytes: string | Buffer, patienceMs = GIVE_UP_MS): Promise<string> {
  const socket: Socket = connect(port, '127.0.0.1')
  socket.on('error', () => socket.destroy())
  socket.setTimeout(patienceMs, () => socket.destroy())
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => {
    chunks.push(chunk)
    socket.setTimeout(QUIET_MS)
  })
  socket.write(bytes)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}

const upgrade = (path: string): string =>
  `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`
const proxied = (): string => `GET http://127.0.0.1:${ports.provider}/ HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])

const stillServes = async (): Promise<void> => {
  assert.equal(uncaught, [])
  assert.is(statusOf(await exchange(ports.farm, 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')), 404)
  odd = Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok')
  assert.match(await exchange(ports.proxy, proxied()), /^HTTP\/1\.1 200 [\s\S]*ok$/)
}

strangers('addresses that are none', async () => {
  for (const path of ['//', '///', 'http://', '//[', '/?ticket=%', '/?ticket=.', '\\\\', 'http://[::1', '*']) {
    for (const port of [ports.farm, ports.proxy]) await exchange(port, upgrade(path), QUIET_MS)
    await exchange(ports.farm, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`, QUIET_MS)
    await exchange(ports.proxy, `CONNECT ${path} HTTP/1.1\r\nHost: x\r\n\r\n`, QUIET_MS)
  }
  assert.is(statusOf(await exchange(ports.farm, upgrade('//'))), 403)
  await stillServes()
})

strangers('answers that may not be passed on as they are', async () => {
  const expected = {
    'HTTP/1.1 200 OK\r\nTrailer: x\r\nContent-Length: 2\r\n\r\nok': 200,
    'HTTP/1.1 200 O\u0001\u0007K\r\nContent-Length: 2\r\n\r\nok': 200,
    'HTTP/1.1 099 Early\r\nContent-Length: 2\r\n\r\nok': 502,
    'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n': 204,
  }
  for (const [answer, status] of Object.entries(expected)) {
    odd = Buffer.from(answer, 'latin1')
    assert.is(statusOf(await exchange(ports.proxy, proxied())), status, answer)
  }
  for (const answer of [
    'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nshort',
    'HTTP/1.1 200 OK\r\nX: \u0000\r\n\r\n',
    'nonsense',
    '',
  ]) {
    odd = Buffer.from(answer, 'latin1')
    await exchange(ports.proxy, proxied(), QUIET_MS)
  }
  await stillServes()
})

strangers('of an allowed host only the usual ports are reached, and those of the profile', async () => {
  const asked = { connect: '', get: '' }
  for (const port of [ports.farm, ports.proxy, 22, 27_017]) {
    asked.connect = await exchange(ports.proxy, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\nHost: x\r\n\r\n`)
    asked.get = await exchange(ports.proxy, `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`)
    assert.equal([statusOf(asked.connect), statusOf(asked.get)], [403, 403], String(port))
  }
  const tunnel = `CONNECT 127.0.0.1:${ports.provider} HTTP/1.1\r\nHost: x\r\n\r\n`
  assert.is(statusOf(await exchange(ports.proxy, tunnel)), 200)
  // Nobody listens there on this machine: it is tried all the same.
  const usual = 'CONNECT 127.0.0.1:443 HTTP/1.1\r\nHost: x\r\n\r\n'
  assert.is.not(statusOf(await exchange(ports.proxy, usual)), 403)
  await stillServes()
})

/** Parts of a conversation that is nearly one, in any order. */
const token = fc.oneof(
  fc.constantFrom(
    'GET ',
    'CONNECT ',
    'HTTP/1.1',
    ' 200 ',
    ' 099 ',
    'Upgrade: websocket',
    'Connection: Upgrade',
    '//',
    ':',
  ),
  fc.constantFrom(
    '\r\n',
    '\r\n\r\n',
    'Trailer: a',
    'Content-Length: 5',
    'Transfer-Encoding: chunked',
    '/?ticket=',
    '%',
  ),
  fc.string({ unit: 'binary', maxLength: 8 }),
)
const bytes = fc.array(token, { maxLength: 12 }).map((parts) => Buffer.from(parts.join(''), 'latin1'))

strangers('anything at all', async () => {
  await fc.assert(
    fc.asyncProperty(bytes, async (some) => {
      odd = some
      await Promise.all([
        exchange(ports.farm, some, QUIET_MS),
        exchange(ports.proxy, some, QUIET_MS),
        exchange(
          ports.farm,
          Buffer.concat([Buffer.from('GET '), some, Buffer.from('\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n')]),
        ),
        exchange(ports.proxy, proxied(), QUIET_MS),
      ])
      assert.equal(uncaught, [])
    }),
    { numRuns: 150 },
  )
  await stillServes()
})

strangers.run()
