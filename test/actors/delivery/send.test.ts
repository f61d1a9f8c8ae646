import { createHmac } from 'node:crypto'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createWebhookAgent } from '../../../actors/delivery/agent.ts'
import { KEPT_LIMIT, keptText } from '../../../actors/delivery/answer.ts'
import { type SendOptions, sendWebhook, targetOf } from '../../../actors/delivery/send.ts'
import { signatureOf } from '../../../actors/delivery/signature.ts'
import { type Clock, systemClock } from '../../../core/clock.ts'
import type { Resolve } from '../../../core/public-lookup.ts'
import { startEndlessAnswer, WITHOUT_AN_END } from '../../support/endless-answer.ts'
import { startEndpoint } from './receiver.ts'

/** The ten seconds of an attempt pass fifty times as fast; everything else is real. */
const hastyClock: Clock = { ...systemClock(), timer: (ms, fn) => systemClock().timer(ms / 50, fn) }

const agent = createWebhookAgent({ allowPrivate: true })
function send({
  url,
  allowPrivate = true,
  ...options
}: Partial<SendOptions> & { url: string; allowPrivate?: boolean }) {
  const target = targetOf(url, { allowPrivate })
  if ('problem' in target) throw new Error(target.problem)
  return sendWebhook({
    agent,
    clock: hastyClock,
    target,
    event: 'test.event',
    body: '{"deliveryId":"1"}',
    secrets: [],
    signal: new AbortController().signal,
    ...options,
  })
}

const sending = suite('sending')
sending.after(() => agent.destroy())

sending('a 2xx is no failure, and its text is kept', async () => {
  const endpoint = await startEndpoint((response) => response.writeHead(202).end('thank you'))
  const { status, error, answer, durationMs } = await send({ url: endpoint.url })
  assert.equal({ status, error, answer }, { status: 202, error: undefined, answer: 'thank you' })
  assert.ok(durationMs >= 0)
  await endpoint.stop()
})

sending('anything but 2xx is a failure; a redirect is not followed', async () => {
  const endpoint = await startEndpoint((response, { path }) => {
    const status = Number(path.slice(1))
    response.writeHead(status, { location: '/200' }).end('moved')
  })
  for (const status of [301, 302, 303, 307, 308]) {
    const result = await send({ url: new URL(`/${status}`, endpoint.url).href })
    assert.is(result.status, status)
    assert.is(result.error, `Answered ${status}: redirects are not followed`)
  }
  for (const status of [400, 401, 404, 410, 429, 500, 503])
    assert.is((await send({ url: new URL(`/${status}`, endpoint.url).href })).error, `Answered ${status}`)
  assert.is(endpoint.requests.length, 12)
  await endpoint.stop()
})

sending('no headers, and a body that never ends: ten seconds for all of it', async () => {
  const endpoint = await startEndpoint((response, { path }) => {
    if (path === '/body') response.writeHead(200).write('so far')
    if (path === '/drip') setInterval(() => response.write('.'), 20).unref()
  })
  const slow = 'No complete answer within 10 seconds'
  assert.is((await send({ url: new URL('/headers', endpoint.url).href })).error, slow)
  for (const path of ['/body', '/drip']) {
    const result = await send({ url: new URL(path, endpoint.url).href })
    assert.is(result.error, slow)
    assert.is(result.status, 200)
  }
  await endpoint.stop()
})

sending('at most 64 KiB of an answer are read, and its first KiB kept', async () => {
  let written = 0
  const endpoint = await startEndpoint((response) => {
    const pour = () => {
      while (!response.destroyed && response.write('é'.repeat(8_192))) written += 16_384
    }
    response.writeHead(200).on('drain', pour)
    pour()
  })
  const { status, error, answer } = await send({ url: endpoint.url })
  assert.is(status, 200)
  assert.is(error, undefined)
  assert.is(answer, 'é'.repeat(512))
  // What the sockets' buffers held besides is far from what an endless answer would have filled.
  assert.ok(written < 16 * 1_024 * 1_024)
  await endpoint.stop()
})

for (const [name, answered] of Object.entries(WITHOUT_AN_END)) {
  sending(`${name} without an end: read no further than any answer`, async () => {
    const endless = await startEndlessAnswer(answered)
    const { error, answer } = await send({ url: endless.url, clock: systemClock() })
    assert.match(error ?? '', /too large/)
    assert.is(answer, undefined)
    assert.ok(endless.written() < 16 * 1_024 * 1_024)
    await endless.stop()
  })
}

sending('a connection is kept however much its answers are together', async () => {
  const endpoint = await startEndpoint((response) => response.end('a'.repeat(60_000)))
  for (let number = 0; number < 20; number++) assert.is((await send({ url: endpoint.url })).error, undefined)
  // The pool may open another before the first is free again.
  assert.ok(new Set(endpoint.requests.map(({ port }) => port)).size <= 2)
  await endpoint.stop()
})

sending('what is kept is safe text, never cut in half', () => {
  assert.is(keptText(Buffer.from('\u0000a\u001b[31mb\r\n\u202ec\u200b\td')), 'a[31mb\nc\td')
  assert.is(keptText(Buffer.from(`${'x'.repeat(1_023)}é`)), 'x'.repeat(1_023))
  const replaced = keptText(Buffer.alloc(KEPT_LIMIT, 0xff))
  assert.ok(Buffer.byteLength(replaced) <= KEPT_LIMIT)
  assert.match(replaced, /^\ufffd+$/)
})

sending('a body goes out byte for byte, signed with each secret', async () => {
  const endpoint = await startEndpoint((response) => response.end())
  const body = '{"deliveryId":"1","payload":{"userRef":"\u2028 ü 💬 \\u00e9"}}'
  await send({ url: endpoint.url, body, secrets: ['new secret', 'old secret'] })
  await send({ url: endpoint.url, body })
  const [signed, unsigned] = endpoint.requests
  const header = signed?.headers['x-service-signature'] as string
  const time = /^t=(\d+),/.exec(header)?.[1]
  const of = (secret: string) => createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')
  assert.is(header, `t=${time},v1=${of('new secret')},v1=${of('old secret')}`)
  assert.is(signed?.rawBody, body)
  assert.not('x-service-signature' in (unsigned?.headers ?? {}))
  await endpoint.stop()
})

sending('the signature of known bytes is the known one', () => {
  const signature = signatureOf({ body: Buffer.from('{}'), secrets: ['whsec'], now: new Date(1_760_000_000_999) })
  const expected = createHmac('sha256', 'whsec').update('1760000000.{}').digest('hex')
  assert.is(signature, `t=1760000000,v1=${expected}`)
})

sending('errors are words for people', async () => {
  const closing = createServer((socket) => socket.destroy())
  const garbage = createServer((socket) => socket.resume().end('SSH-2.0-OpenSSH_9.2\r\n'))
  await Promise.all(
    [closing, garbage].map((server) => new Promise<void>((done) => server.listen(0, '127.0.0.1', done))),
  )
  const urlOf = (server: typeof closing) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const gone = createServer()
  await new Promise<void>((done) => gone.listen(0, '127.0.0.1', done))
  const goneUrl = urlOf(gone)
  await new Promise((done) => gone.close(done))
  assert.is((await send({ url: goneUrl })).error, 'The connection was refused')
  assert.is((await send({ url: urlOf(closing) })).error, 'The connection was closed before the answer was complete')
  assert.is((await send({ url: urlOf(garbage) })).error, 'The answer is not HTTP')
  assert.is((await send({ url: urlOf(closing).replace('http', 'https') })).error?.includes('undefined'), false)
  assert.equal(targetOf('not a url', { allowPrivate: true }), { problem: 'Not a URL' })
  for (const server of [closing, garbage]) await new Promise((done) => server.close(done))
})

sending('an informational answer is not taken for the answer that never comes', async () => {
  const urlOf = (server: ReturnType<typeof createServer>) =>
    `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  for (const { ends, error } of [
    { ends: true, error: 'The connection was closed before the answer was complete' },
    { ends: false, error: 'No complete answer within 10 seconds' },
  ]) {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => {
        socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n')
        if (ends) socket.end()
      })
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const result = await send({ url: urlOf(server) })
    assert.equal([result.status, result.error], [undefined, error])
    await new Promise((done) => server.close(done))
  }
})

sending('an attempt that ends while it waits for its connection sends nothing', async () => {
  const endpoint = await startEndpoint((response) => response.end())
  const stopping = new AbortController()
  const attempt = send({ url: endpoint.url, signal: stopping.signal, clock: systemClock() })
  stopping.abort()
  assert.equal((await attempt).error, 'The attempt was interrupted by a restart of the service')
  assert.is((await send({ url: endpoint.url })).status, 200)
  assert.is(endpoint.requests.length, 1)
  await endpoint.stop()
})

sending('an agent that has ended fails the attempt, and holds nothing up', async () => {
  const ended = createWebhookAgent({ allowPrivate: true })
  await ended.destroy()
  const result = await send({ agent: ended, url: 'http://127.0.0.1:9/' })
  assert.equal([result.status, result.error], [undefined, 'The connection failed (UND_ERR_DESTROYED)'])
})

sending('an attempt ends with the process', async () => {
  const stopping = new AbortController()
  const endpoint = await startEndpoint(() => stopping.abort())
  const result = await send({ url: endpoint.url, signal: stopping.signal, clock: systemClock() })
  assert.is(result.error, 'The attempt was interrupted by a restart of the service')
  await endpoint.stop()
})

sending('a name that rebinds reaches nothing: the address of the connection itself is judged', async () => {
  let connections = 0
  const server = createServer((socket) => {
    connections += 1
    socket.destroy()
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  let asked = 0
  // Whatever the name was when the URL was set: at each connection it leads inwards, in another way every time.
  const resolve: Resolve = (_name, _options, callback) => {
    asked += 1
    if (asked === 1) callback(null, [{ address: '::ffff:127.0.0.1', family: 6 }])
    else if (asked === 2) callback(null, [{ address: '127.0.0.1', family: 4 }])
    else
      callback(null, [
        { address: '10.0.0.1', family: 4 },
        { address: 'fd00::1', family: 6 },
        { address: '64:ff9b::7f00:1', family: 6 },
      ])
  }
  const strict = createWebhookAgent({ allowPrivate: false, resolve })
  for (let turn = 0; turn < 3; turn++) {
    const result = await send({ agent: strict, allowPrivate: false, url: `https://rebinds.example.com:${port}/` })
    assert.is(result.error, 'The host has no public address')
  }
  assert.is(asked, 3)
  assert.is(connections, 0)
  // Even where a URL got past its check, the connector refuses literal addresses.
  for (const host of ['127.0.0.1', '[::1]', '[::ffff:127.0.0.1]']) {
    const result = await send({ agent: strict, allowPrivate: true, url: `http://${host}:${port}/` })
    assert.is(result.error, 'The host has no public address')
  }
  assert.is(connections, 0)
  await strict.destroy()
  await new Promise((done) => server.close(done))
})

sending.run()
