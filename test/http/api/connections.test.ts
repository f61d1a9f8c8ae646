import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { seedConnection, seedConversations } from '../../support/seed.ts'

const DAY_MS = 86_400_000
let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
})
test.after(async () => {
  await world.stop()
})

test('lists a user’s connections with their counts, newest capture first', async () => {
  const appId = 'app-one'
  const userRef = 'Grüße & co'
  const lastSyncAt = new Date('2026-03-02T10:00:00Z')
  const older = await seedConnection({
    appId,
    userRef,
    capturedAt: new Date('2026-01-01'),
    status: 'needs_reauth',
    lastSyncAt,
  })
  const newer = await seedConnection({ appId, userRef, capturedAt: new Date('2026-02-01') })
  const revoked = await seedConnection({ appId, userRef, capturedAt: new Date('2025-01-01'), status: 'revoked' })
  const { archiveId = '' } = newer
  const now = Date.now()
  await seedConversations({
    archiveId,
    count: 3,
    make: (i) => ({ firstMessageAt: new Date(now - (i + 28.5) * DAY_MS) }),
  })
  await seedConversations({ archiveId: older.archiveId ?? '', count: 2, make: () => ({ firstMessageAt: null }) })
  const { status, body, headers } = await world.ask(`/api/connections?userRef=${encodeURIComponent(userRef)}`)
  assert.is(status, 200)
  const view = (connection: typeof older, counts: object, sync: string | null = null) => ({
    id: connection._id,
    provider: 'sandbox-assistant',
    status: connection.status,
    capturedAt: connection.capturedAt.toISOString(),
    lastSyncAt: sync,
    ...counts,
    accountId: connection.accountId,
  })
  const connections = [
    view(newer, { conversationCount: 3, recentConversationCount: 2 }),
    view(older, { conversationCount: 2, recentConversationCount: 0 }, lastSyncAt.toISOString()),
    view(revoked, { conversationCount: 0, recentConversationCount: 0 }),
  ]
  assert.equal(body, {
    userRef,
    connected: true,
    needsReauth: true,
    recentConversationCount: 2,
    recentWindowDays: 30,
    connections,
  })
  assert.match(headers.get('content-type') ?? '', /^application\/json/)
  const olderForm = await world.ask(`/api/conversations?userRef=${encodeURIComponent(userRef)}`)
  assert.equal(olderForm.body, { userRef, connections })
})

test('tells what is wrong with a request', async () => {
  const cases: [string, number, string][] = [
    ['/api/connections', 400, 'Missing userRef parameter'],
    ['/api/connections?userRef=', 400, 'Missing userRef parameter'],
    ['/api/connections?userRef[$ne]=1', 400, 'Missing userRef parameter'],
    ['/api/connections?userRef=a&userRef=b', 400, 'Invalid userRef parameter: must be given once'],
    ['/api/connections?userRef=a%00b', 400, 'Invalid userRef parameter: is no valid text'],
    [`/api/connections?userRef=${'x'.repeat(513)}`, 400, 'Invalid userRef parameter: is longer than 512 characters'],
    ['/api/connections?userRef=nobody', 404, 'User not found'],
    ['/api/conversations?userRef=nobody', 404, 'User not found'],
    ['/api/connections?userRef=__proto__', 404, 'User not found'],
    ['/api/nowhere', 404, 'Not found'],
    ['/nowhere', 404, 'Not found'],
    ['/%', 404, 'Not found'],
  ]
  for (const [path, status, error] of cases) {
    const answer = await world.ask(path)
    assert.equal([answer.status, answer.body], [status, { error }], path)
    assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
  }
})

test('other methods are answered 405 with Allow', async () => {
  const cases: [string, string, string][] = [
    ['/api/connections', 'POST', 'GET, HEAD'],
    ['/api/connections', 'DELETE', 'GET, HEAD'],
    ['/api/connections', 'OPTIONS', 'GET, HEAD'],
    ['/api/conversations', 'PUT', 'GET, HEAD'],
    ['/api/purge', 'GET', 'POST'],
    ['/healthz', 'POST', 'GET, HEAD'],
  ]
  for (const [path, method, allow] of cases) {
    const answer = await world.ask(path, { method })
    assert.equal([answer.status, answer.headers.get('allow')], [405, allow], `${method} ${path}`)
    assert.equal(answer.body, { error: 'Method not allowed' })
  }
})

test('health, readiness and metrics', async () => {
  assert.equal((await world.ask('/healthz', { key: null })).body, { ok: true })
  assert.equal((await world.ask('/readyz', { key: null })).body, { ok: true })
  const metrics = await world.ask('/metrics', { key: null })
  assert.match(
    metrics.text,
    /ccs_http_request_seconds_count\{method="GET",route="\/api\/connections",status="200"\} \d/,
  )
})

test('an answer that is an error is measured under the same route', async () => {
  assert.is((await world.ask('/api/ingest-export/none')).status, 404)
  const metrics = await world.ask('/metrics', { key: null })
  const routes = [...metrics.text.matchAll(/route="([^"]*)",status="404"/g)].map(([, route]) => route)
  assert.ok(routes.includes('/api/ingest-export/:ingestId'), routes.join(' '))
})

test('a request id that a proxy gave is kept, another is not', async () => {
  const id = async (given: string) =>
    (await world.ask('/healthz', { headers: { 'x-request-id': given } })).headers.get('x-request-id')
  assert.is(await id('abc-1'), 'abc-1')
  assert.is.not(await id('a b'), 'a b')
})

test.run()
