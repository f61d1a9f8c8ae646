import fc from 'fast-check'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { spread } from '../../sdk/src/each-conversation.ts'
import { CcsError, createClient } from '../../sdk/src/index.ts'
import { backOff, parseRetryAfter, retryDelay, wait } from '../../sdk/src/retry.ts'
import { type Reply, type SeenRequest, startApi } from './support/api.ts'

type Paging = 'cursor' | 'offset'

/** A listing of `size` conversations, with cursors or, as an older API would, with offsets alone. */
function listing(size: number, paging: Paging, headers: Record<string, string> = {}) {
  return ({ query }: SeenRequest): Reply => {
    const limit = Math.min(100, Number(query['limit'] ?? 50))
    const offset = Number(query['offset'] ?? 0)
    const start = paging === 'cursor' ? Number(query['cursor'] ?? 0) : offset
    const end = Math.min(size, start + limit)
    const conversations = Array.from({ length: end - start }, (_, index) => ({ id: String(start + index) }))
    const next = paging === 'cursor' ? { nextCursor: end < size ? String(end) : null } : {}
    return { headers, body: { conversations, total: size, limit, offset, ...next } }
  }
}

async function readAll(reply: (request: SeenRequest) => Reply, limit?: number) {
  const api = await startApi(reply)
  const waits: number[] = []
  const pause = async (milliseconds: number) => void waits.push(milliseconds)
  try {
    const client = createClient({ baseUrl: api.url, apiKey: 'k', wait: pause })
    const ids: string[] = []
    const options = limit === undefined ? {} : { limit }
    for await (const { id } of client.eachConversation('c', options)) ids.push(id)
    return { ids, waits, requests: api.requests }
  } finally {
    await api.stop()
  }
}

test('gives every conversation once, with cursors and without', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.nat(60),
      fc.integer({ min: 1, max: 25 }),
      fc.constantFrom<Paging>('cursor', 'offset'),
      async (size, limit, paging) => {
        const { ids, requests } = await readAll(listing(size, paging), limit)
        assert.equal(
          ids,
          Array.from({ length: size }, (_, index) => String(index)),
        )
        assert.is(requests.length, Math.max(1, Math.ceil(size / limit)))
      },
    ),
    { numRuns: 40 },
  )
})

test('asks for the largest pages by itself, and for the next one only when it is wanted', async () => {
  const { requests } = await readAll(listing(150, 'cursor'))
  assert.equal(
    requests.map(({ query }) => query),
    [
      { connectionId: 'c', limit: '100' },
      { connectionId: 'c', limit: '100', cursor: '100' },
    ],
  )
  const api = await startApi(listing(150, 'cursor'))
  const client = createClient({ baseUrl: api.url, apiKey: 'k' })
  for await (const _conversation of client.eachConversation('c')) break
  assert.is(api.requests.length, 1)
  await api.stop()
})

test('a cursor that comes back again ends in an error, not in a loop', async () => {
  const body = { conversations: [{ id: '1' }], total: 9, limit: 1, offset: 0, nextCursor: 'same' }
  const error = await readAll(() => ({ body })).catch((reason: unknown) => reason)
  assert.instance(error, CcsError)
  assert.match(String(error), 'repeated a cursor')
})

test('spreads what is left of the rate window over its rest', async () => {
  const reset = String(Math.floor(Date.now() / 1000) + 3600)
  const headers = { 'ratelimit-limit': '60', 'ratelimit-remaining': '20', 'ratelimit-reset': reset }
  const { waits } = await readAll(listing(30, 'cursor', headers), 10)
  assert.equal(waits, [3000, 3000])
})

test('the pause is none while half of the window is left, and never longer than the window', () => {
  const headers = (limit: number, remaining: number, reset: number) =>
    new Headers({ 'ratelimit-limit': `${limit}`, 'ratelimit-remaining': `${remaining}`, 'ratelimit-reset': `${reset}` })
  assert.is(spread(headers(60, 30, 60), 0), 0)
  assert.is(spread(headers(60, 29, 29), 0), 1000)
  assert.is(spread(headers(60, 0, 10), 4000), 6000)
  assert.is(spread(headers(60, 5, 1), 9000), 0)
  assert.is(spread(new Headers(), 0), 0)
  assert.is(spread(new Headers({ 'ratelimit-limit': '60', 'ratelimit-remaining': '0' }), 0), 0)
  fc.assert(
    fc.property(fc.nat(100), fc.nat(100), fc.nat(200), fc.nat(200_000), (limit, remaining, reset, now) => {
      const pause = spread(headers(limit, remaining, reset), now)
      assert.ok(pause >= 0 && pause <= 60_000)
    }),
  )
})

test('reads both forms of Retry-After', () => {
  const now = Date.UTC(2026, 8, 30)
  assert.is(parseRetryAfter('30', now), 30_000)
  assert.is(parseRetryAfter('Wed, 30 Sep 2026 00:01:00 GMT', now), 60_000)
  assert.is(parseRetryAfter('Tue, 29 Sep 2026 00:00:00 GMT', now), 0)
  assert.is(parseRetryAfter(null, now), undefined)
  assert.is(parseRetryAfter('soon', now), undefined)
})

test('a call is repeated when it may be, after a delay that is bounded', () => {
  const repeatable = fc.constantFrom('always', 'when-refused', 'never')
  const retryAfter = fc.option(fc.nat(1000), { nil: undefined })
  fc.assert(
    fc.property(
      fc.nat(599),
      fc.integer({ min: 1, max: 50 }),
      repeatable,
      retryAfter,
      (status, attempt, how, seconds) => {
        const error = new CcsError('x', { status, retryAfterSeconds: seconds })
        const delay = retryDelay(error, attempt, how)
        const may = how !== 'never' && (status === 429 || (how === 'always' && (status === 0 || status >= 500)))
        assert.is(delay !== undefined, may && (seconds ?? 0) <= 300)
        assert.ok(delay === undefined || delay === (seconds === undefined ? backOff(attempt) : seconds * 1000))
        assert.ok(backOff(attempt) >= 1000 && backOff(attempt) <= 60_000)
      },
    ),
  )
})

test('waiting ends at once when its signal aborts', async () => {
  const controller = new AbortController()
  const waiting = wait(3_600_000, controller.signal).catch((reason: unknown) => reason)
  controller.abort('enough')
  assert.is(await waiting, 'enough')
  assert.is(await wait(1, controller.signal).catch((reason: unknown) => reason), 'enough')
  await wait(0)
})

test.run()
