import { setTimeout as sleep } from 'node:timers/promises'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { extractConversation } from '../../provider/branch.ts'
import type { Credential } from '../../provider/client.ts'
import {
  ProviderContractError,
  ProviderRateLimitedError,
  ProviderUnavailableError,
  SessionEndedError,
} from '../../provider/errors.ts'
import { branchesMessages } from './branches-expectation.ts'
import { type RunningSite, startSite } from './sandbox.ts'

const test = suite<{ site: RunningSite }>('client')
test.before(async (context) => {
  context.site = await startSite()
})
test.after(({ site }) => site.stop())

type ErrorClass<E extends Error> = abstract new (...args: never[]) => E
async function thrown<E extends Error>(promise: Promise<unknown>, type: ErrorClass<E>): Promise<E> {
  const error = await promise.then(
    () => new Error('nothing was thrown'),
    (reason: unknown) => reason,
  )
  if (error instanceof type) return error
  throw error
}
const paths = async (site: RunningSite, account: string) => {
  const { requests } = await site.control<{ requests: { path: string; status: number }[] }>({ action: 'log', account })
  return requests.map(({ path, status }) => `${path.split('?')[0]} ${status}`)
}

test('every page of a long list, each conversation once', async ({ site }) => {
  const client = await site.clientOf('big@example.test')
  const ids = new Set<string>()
  let pages = 0
  for (let offset: number | null = 0; offset !== null; pages++) {
    const page = await client.list({ offset })
    for (const { id } of page.items) ids.add(id)
    offset = page.nextOffset
  }
  assert.equal([ids.size, pages], [400, Math.ceil(400 / 28)])
})

test('branches are read as they were written down by hand', async ({ site }) => {
  const client = await site.clientOf('branches@example.test')
  const { items } = await client.list({ offset: 0 })
  const read = new Map<string | null, unknown>()
  for (const { id, title } of items) read.set(title, extractConversation(await client.conversation(id)).messages)
  assert.equal(Object.fromEntries(read), branchesMessages)
})

test('files come without credentials, 404 is null, too large is said', async ({ site }) => {
  const client = await site.clientOf('branches@example.test')
  const cat = await client.file('file-cat', { maxBytes: 1234 })
  assert.ok(cat && !cat.tooLarge)
  assert.equal([cat.bytes.length, cat.contentType, cat.bytes.subarray(1, 4).toString()], [1234, 'image/png', 'PNG'])
  assert.equal(await client.file('file-cat', { maxBytes: 1233 }), { tooLarge: true })
  assert.is(await client.file('file_gone', { maxBytes: 9999 }), null)
  assert.is(await client.conversation('not-there'), null)
  for (const id of ['', '.', '..', '\ud800']) await thrown(client.conversation(id), ProviderContractError)
  assert.is(await client.conversation('../../__control?x#y'), null)
})

test('a 9 KB cookie that rotates at every third call is kept up with, and each one is stored in order', async ({
  site,
}) => {
  const stored: Credential[] = []
  const onRotate = async (credential: Credential) => {
    await sleep(stored.length % 2 === 0 ? 5 : 0)
    stored.push(credential)
  }
  const client = await site.clientOf('chunked@example.test', { onRotate })
  assert.ok(client.credential().cookie.length > 9000)
  const { items } = await client.list({ offset: 0 })
  for (const { id } of items) await client.conversation(id)
  await Promise.all(items.slice(0, 6).map(({ id }) => client.conversation(id)))
  assert.ok(new Set(stored.map(({ cookie }) => cookie)).size >= 10)
  assert.equal(stored.at(-1), client.credential())
  // What was stored last goes on; what was first is over.
  assert.ok((await site.client(stored.at(-1) ?? { cookie: '' }).session()).usable)
  assert.not((await site.client(stored[0] ?? { cookie: '' }).session()).usable)
})

test('what onRotate throws is thrown by the call', async ({ site }) => {
  const lost = new Error('the fence is lost')
  const client = await site.clientOf('rotate@example.test', { onRotate: () => Promise.reject(lost) })
  assert.is(await thrown(client.list({ offset: 0 }), Error), lost)
})

test('an access token that ran out is renewed once, by parallel calls together', async ({ site }) => {
  const account = 'tokens@example.test'
  const client = await site.clientOf(account)
  await client.list({ offset: 0 })
  await site.control({ action: 'expire-tokens', account })
  await site.control({ action: 'reset', account })
  await Promise.all([client.list({ offset: 0 }), client.list({ offset: 0 }), client.list({ offset: 0 })])
  const sessions = (await paths(site, account)).filter((path) => path.startsWith('/api/auth/session'))
  assert.equal(sessions, ['/api/auth/session 200'])
})

test('a session ended by the provider: the session call says so, calls throw', async ({ site }) => {
  const account = 'ended@example.test'
  const client = await site.clientOf(account)
  await client.list({ offset: 0 })
  await site.control({ action: 'end-sessions', account })
  await thrown(client.list({ offset: 0 }), SessionEndedError)
  assert.equal(await client.session(), { usable: false, reason: 'the session call gives no access token' })
  const again = await site.clientOf(account)
  await site.control({ action: 'fail', mode: 'status', status: 401, path: '/api/auth/session', account })
  assert.equal(await again.session(), { usable: false, reason: 'the session call answers 401' })
  await thrown(site.client({ cookie: 'no cookie; at all' }).list({ offset: 0 }), SessionEndedError)
})

test('a 401 of the API alone does not end a session', async ({ site }) => {
  const account = 'once@example.test'
  const client = await site.clientOf(account)
  await site.control({ action: 'fail', mode: 'status', status: 401, path: '/backend-api', account })
  assert.is((await client.list({ offset: 0 })).total, 2)
  await site.control({ action: 'fail', mode: 'status', status: 401, path: '/backend-api', count: 2, account })
  await thrown(client.list({ offset: 0 }), ProviderUnavailableError)
  assert.ok((await client.session()).usable)
})

test('refusals that pass are waited out, those that stay are thrown', async ({ site }) => {
  const account = 'flaky@example.test'
  const client = await site.clientOf(account, { timeoutMs: 200 })
  await client.list({ offset: 0 })
  const modes = [
    { mode: 'status', status: 500 },
    { mode: 'status', status: 503 },
    { mode: 'status', status: 403 },
    { mode: 'reset' },
    { mode: 'truncate' },
    { mode: 'hang' },
  ]
  for (const mode of modes) {
    await site.control({ action: 'fail', account, count: 2, ...mode })
    assert.is((await client.list({ offset: 0 })).total, 2)
    await site.control({ action: 'fail', account, count: 4, ...mode })
    const error = await thrown(client.list({ offset: 0 }), ProviderUnavailableError)
    assert.not.match(error.message, '127.0.0.1')
  }
  assert.ok((await client.session()).usable)
  await site.control({ action: 'fail', account, mode: 'garbage' })
  await thrown(client.list({ offset: 0 }), ProviderContractError)
})

test('429 is thrown at once with both forms of Retry-After, or with neither', async ({ site }) => {
  const limited = await site.clientOf('limited@example.test')
  const { items } = await limited.list({ offset: 0 })
  let read = 0
  const error = await thrown(
    (async () => {
      for (const { id } of items) {
        await limited.conversation(id)
        read++
      }
    })(),
    ProviderRateLimitedError,
  )
  assert.equal([read, error.retryAfterMs], [9, 60_000])

  const account = 'pause@example.test'
  const client = await site.clientOf(account)
  await client.session()
  const cases: [object, (ms: number | null) => boolean][] = [
    [{ form: 'date', retryAfter: 120 }, (ms) => ms !== null && ms > 110_000 && ms <= 120_000],
    [{ form: 'none' }, (ms) => ms === null],
    [{ form: 'seconds', retryAfter: 0 }, (ms) => ms === 0],
  ]
  for (const [limit, right] of cases) {
    await site.control({ action: 'limit', account, after: 0, blockMs: 60_000, ...limit })
    const { retryAfterMs } = await thrown(client.list({ offset: 0 }), ProviderRateLimitedError)
    assert.ok(right(retryAfterMs), `${JSON.stringify(limit)}: ${retryAfterMs}`)
  }
})

test('each request waits for its turn, and an aborted client ends with the reason', async ({ site }) => {
  const account = 'pace@example.test'
  let turns = 0
  const stop = new AbortController()
  const client = await site.clientOf(account, {
    pace: async () => {
      turns++
    },
    signal: stop.signal,
  })
  await client.list({ offset: 0 })
  await site.control({ action: 'fail', mode: 'status', account })
  await client.list({ offset: 0 })
  assert.is(turns, (await paths(site, account)).length)
  assert.is(turns, 4)
  const reason = new Error('stopping')
  await site.control({ action: 'fail', mode: 'hang', account })
  const hanging = client.list({ offset: 0 })
  stop.abort(reason)
  assert.is(await thrown(hanging, Error), reason)
  assert.is(await thrown(client.list({ offset: 0 }), Error), reason)
})

test.run()
