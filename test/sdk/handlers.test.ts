import { createServer, request as httpRequest } from 'node:http'
import express, { type Request as ExpressRequest, type Response as ExpressResponse, type NextFunction } from 'express'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  expressWebhook,
  fetchWebhook,
  type WebhookEvent,
  type WebhookHandlerOptions,
  type WebhookVerificationError,
} from '../../sdk/src/index.ts'
import { listen, stop } from './support/api.ts'
import { eventBody, post, SECRET, sign } from './support/webhook.ts'

type Receiver = { url: string; thrown: unknown[]; stop(): Promise<void> }
type Start = (options: WebhookHandlerOptions) => Promise<Receiver>

/** An Express app with the handler; `before` is what stands in front of it. */
async function startExpress(options: WebhookHandlerOptions, before?: express.RequestHandler): Promise<Receiver> {
  const thrown: unknown[] = []
  const app = express()
  if (before) app.use(before)
  app.post('/webhooks', expressWebhook(options))
  app.use((error: unknown, _request: ExpressRequest, response: ExpressResponse, _next: NextFunction) => {
    thrown.push(error)
    response.status(500).end()
  })
  const server = createServer(app)
  return { url: `${await listen(server)}/webhooks`, thrown, stop: () => stop(server) }
}

/** The fetch-style handler behind a real socket. */
async function startFetch(options: WebhookHandlerOptions): Promise<Receiver> {
  const thrown: unknown[] = []
  const handle = fetchWebhook(options)
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const headers = new Headers(request.headers as Record<string, string>)
    const { method = '' } = request
    const body = method === 'POST' ? Buffer.concat(chunks) : null
    try {
      const answer = await handle(new Request('http://receiver/webhooks', { method, headers, body }))
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
    } catch (error) {
      thrown.push(error)
      response.writeHead(500).end()
    }
  })
  return { url: `${await listen(server)}/webhooks`, thrown, stop: () => stop(server) }
}

for (const [kind, start] of [
  ['Express', startExpress],
  ['fetch', startFetch],
] as [string, Start][]) {
  test(`${kind}: hands on what is verified, once for each delivery`, async () => {
    const events: WebhookEvent[] = []
    const receiver = await start({ secret: SECRET, onEvent: (event) => events.push(event) })
    for (const id of ['d-1', 'd-2', 'd-1']) assert.is((await post(receiver.url, eventBody(id))).status, 200)
    const answer = await post(receiver.url, eventBody('d-2'))
    assert.equal(await answer.json(), { ok: true, duplicate: true })
    assert.equal(
      events.map(({ deliveryId }) => deliveryId),
      ['d-1', 'd-2'],
    )
    await receiver.stop()
  })

  test(`${kind}: refuses with the reason, and tells the hook`, async () => {
    const refused: [string, string | undefined][] = []
    const events: WebhookEvent[] = []
    const receiver = await start({
      secret: SECRET,
      maxBodyBytes: 1000,
      onEvent: (event) => events.push(event),
      onRejected: (error: WebhookVerificationError, { signature }) => refused.push([error.reason, signature]),
    })
    const wrong = await post(receiver.url, eventBody('d-1'), sign('another'))
    assert.is(wrong.status, 400)
    assert.is(((await wrong.json()) as { reason: string }).reason, 'no-match')
    assert.is((await fetch(receiver.url, { method: 'POST', body: eventBody('d-1') })).status, 400)
    const long = eventBody('d-1', { filler: 'x'.repeat(2000) })
    const tooLarge = await post(receiver.url, long, sign(long))
    assert.equal([tooLarge.status, ((await tooLarge.json()) as { reason: string }).reason], [413, 'too-large'])
    assert.equal(
      refused.map(([reason]) => reason),
      ['no-match', 'missing-signature', 'too-large'],
    )
    assert.equal(
      [refused[0]?.[1], refused[1]?.[1]],
      [sign('another', { at: Number(refused[0]?.[1]?.slice(2, 12)) * 1000 }), undefined],
    )
    assert.equal([events.length, receiver.thrown.length], [0, 0])
    await receiver.stop()
  })

  test(`${kind}: a failed event goes to the framework, and its retry is taken as new`, async () => {
    const problem = new Error('the database is away')
    const seen: string[] = []
    const receiver = await start({
      secret: SECRET,
      onEvent: async ({ deliveryId }) => {
        seen.push(deliveryId)
        if (seen.length === 1) throw problem
      },
    })
    assert.is((await post(receiver.url, eventBody('d-1'))).status, 500)
    assert.equal(receiver.thrown, [problem])
    assert.is((await post(receiver.url, eventBody('d-1'))).status, 200)
    assert.equal(await (await post(receiver.url, eventBody('d-1'))).json(), { ok: true, duplicate: true })
    assert.equal(seen, ['d-1', 'd-1'])
    await receiver.stop()
  })

  test(`${kind}: a retry during the first handling shares its outcome`, async () => {
    let fail: (error: Error) => void = () => {}
    let begun: () => void = () => {}
    const started = new Promise<void>((resolve) => {
      begun = resolve
    })
    const calls: string[] = []
    const receiver = await start({
      secret: SECRET,
      // The clock is asked once for each request, before its event is handled.
      now: () => {
        calls.push('request')
        if (calls.length === 2) setImmediate(() => fail(new Error('too slow')))
        return Date.now()
      },
      onEvent: () => {
        begun()
        return new Promise((_resolve, reject) => {
          fail = reject
        })
      },
    })
    const first = post(receiver.url, eventBody('d-1'))
    await started
    const second = post(receiver.url, eventBody('d-1'))
    assert.equal([(await first).status, (await second).status], [500, 500])
    await receiver.stop()
  })

  test(`${kind}: remembers deliveries where it is told to`, async () => {
    const table = new Set<string>(['from an earlier run'])
    const memory = {
      remember: async (id: string) => !table.has(id) && table.add(id) === table,
      forget: async (id: string) => table.delete(id),
    }
    const events: WebhookEvent[] = []
    const options = { secret: ['other', SECRET], memory, onEvent: (event: WebhookEvent) => events.push(event) }
    const receiver = await start(options)
    await post(receiver.url, eventBody('from an earlier run'))
    await post(receiver.url, eventBody('new'))
    assert.equal([...table], ['from an earlier run', 'new'])
    assert.is(events.length, 1)
    await receiver.stop()
  })
}

test('Express: reads behind a raw or text parser, and behind one that had nothing to do', async () => {
  const fillEmpty: express.RequestHandler = (request, _response, next) => {
    request.body = {}
    next()
  }
  const parsers = [express.raw({ type: '*/*' }), express.text({ type: '*/*' }), fillEmpty, express.urlencoded()]
  for (const parser of parsers) {
    const events: WebhookEvent[] = []
    const receiver = await startExpress({ secret: SECRET, onEvent: (event) => events.push(event) }, parser)
    assert.is((await post(receiver.url, eventBody('d-ü'))).status, 200)
    assert.is(events.length, 1)
    await receiver.stop()
  }
})

test('Express: says clearly that a parser has consumed the body', async () => {
  const receiver = await startExpress({ secret: SECRET, onEvent: () => {} }, express.json())
  assert.is((await post(receiver.url, eventBody('d-1'))).status, 500)
  const [error] = receiver.thrown as WebhookVerificationError[]
  assert.is(error?.reason, 'not-raw-body')
  assert.match(error?.message ?? '', 'before express.json()')
  await receiver.stop()
})

test('Express: a body without a stated length is bounded all the same', async () => {
  const receiver = await startExpress({ secret: SECRET, maxBodyBytes: 1000, onEvent: () => {} })
  const status = await new Promise((resolve, reject) => {
    const outgoing = httpRequest(receiver.url, { method: 'POST' }, ({ statusCode }) => resolve(statusCode))
    outgoing.on('error', reject)
    outgoing.write('x'.repeat(5000))
  })
  assert.is(status, 413)
  await receiver.stop()
})

test('fetch: says clearly that the body was used, and refuses other methods', async () => {
  const handle = fetchWebhook({ secret: SECRET, onEvent: () => {} })
  const request = new Request('http://receiver/', { method: 'POST', body: eventBody('d-1') })
  await request.text()
  const error = (await handle(request).catch((reason: unknown) => reason)) as WebhookVerificationError
  assert.is(error.reason, 'not-raw-body')
  const answer = await handle(new Request('http://receiver/'))
  assert.equal([answer.status, answer.headers.get('allow')], [405, 'POST'])
  assert.is((await handle(new Request('http://receiver/', { method: 'POST' }))).status, 400)
})

test('a handler without a secret is refused when it is made', () => {
  for (const make of [expressWebhook, fetchWebhook]) {
    assert.throws(() => make({ secret: '', onEvent: () => {} }), /secret/)
  }
})

test.run()
