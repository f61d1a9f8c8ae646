import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { seedConnection, seedConversations } from '../../support/seed.ts'

/** As many as a suite can wait for; a failure prints its seed. */
const RUNS = 150
let world: HttpWorld
let connectionId = ''

test.before(async () => {
  world = await startHttpWorld()
  const connection = await seedConnection({ appId: 'app-one', userRef: 'someone' })
  connectionId = connection._id
  await seedConversations({ archiveId: connection.archiveId ?? '', count: 30 })
})
test.after(async () => {
  await world.stop()
})

const odd = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string(),
  fc.constantFrom('', '0', '-1', '1e9', '\0', '__proto__', 'someone', '[$ne]', '%', '\ud800', '9'.repeat(400)),
  fc.integer().map(String),
)
const name = fc.constantFrom(
  'userRef',
  'connectionId',
  'limit',
  'offset',
  'cursor',
  'updatedAfter',
  'userRef[$ne]',
  'x',
)
/** Encoded as it is, or left raw where a URL can hold it so. */
const encode = (text: string): string => encodeURIComponent(text.replace(/\p{Surrogate}/gu, '%ff'))

test('no query is answered with an error of ours', async () => {
  const path = fc.constantFrom('/api/connections', '/api/conversations')
  await fc.assert(
    fc.asyncProperty(path, fc.array(fc.tuple(name, odd), { maxLength: 5 }), async (at, parameters) => {
      const query = parameters.map(([key, value]) => `${encode(key)}=${encode(value)}`).join('&')
      const { status } = await world.ask(`${at}?${query}`)
      assert.ok([200, 400, 404].includes(status), `${status} ${query}`)
    }),
    { numRuns: RUNS },
  )
})

test('pages of any size put together are the whole', async () => {
  const whole = await world.ask<{ conversations: { id: string }[] }>(
    `/api/conversations?connectionId=${connectionId}&limit=100`,
  )
  const ids = whole.body.conversations.map(({ id }) => id)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.nat(35), async (limit, offset) => {
      const page = await world.ask<typeof whole.body>(
        `/api/conversations?connectionId=${connectionId}&limit=${limit}&offset=${offset}`,
      )
      assert.equal(
        page.body.conversations.map(({ id }) => id),
        ids.slice(offset, offset + limit),
      )
    }),
    { numRuns: 30 },
  )
})

test('no body is answered with an error of ours', async () => {
  const field = fc.constantFrom(
    'appId',
    'userRef',
    'connectionId',
    'action',
    'token',
    'captureNonce',
    'clientSecret',
    'device',
  )
  const value = fc.oneof(odd, fc.jsonValue(), fc.constantFrom('app-one', 'start', 'capture'))
  const body = fc.oneof(
    fc.dictionary(field, value).map((fields) => JSON.stringify(fields)),
    fc.json(),
    fc.string(),
    fc.uint8Array({ maxLength: 200 }),
  )
  const path = fc.constantFrom('/api/purge', '/api/connect-native')
  await fc.assert(
    fc.asyncProperty(path, body, async (at, sent) => {
      const { status } = await world.ask(at, { method: 'POST', body: sent })
      // 200 is not among them: a purge of what is there would wait for its actor.
      assert.ok([400, 401, 403, 404].includes(status), `${status} ${at} ${sent}`)
    }),
    { numRuns: RUNS },
  )
})

test('no header is answered with an error of ours', async () => {
  const header = fc.constantFrom(
    'authorization',
    'if-none-match',
    'x-request-id',
    'accept-encoding',
    'content-type',
    'accept',
  )
  const text = fc.oneof(
    fc.stringMatching(/^[\x20-\x7e]{0,60}$/).map((given) => given.trim()),
    fc.constantFrom(`Bearer ${'a'.repeat(6_000)}`, 'Bearer', 'gzip;q=0, br', 'multipart/form-data', '*', 'W/"'),
  )
  const path = fc.constantFrom(
    '/api/connections?userRef=someone',
    '/api/ingest-export?userRef=nobody',
    '/docs',
    '/start',
    '/ops/overview',
  )
  await fc.assert(
    fc.asyncProperty(path, header, text, async (at, key, value) => {
      const method = at.startsWith('/api/ingest') ? 'POST' : 'GET'
      const { status } = await world.ask(at, { method, headers: { [key]: value } })
      assert.ok(status < 500, `${status} ${at} ${key}: ${value}`)
    }),
    { numRuns: RUNS },
  )
})

test.run()
