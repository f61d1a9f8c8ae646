import * as assert from 'uvu/assert'
import type { Connection, UserConnections } from '../../../../sdk/src/index.ts'
import type { Counts } from './conversations.ts'
import { at, type Run, sum } from './history.ts'
import type { ModelConnection, ModelUser } from './model.ts'

/** Asks for a user's connections, at whatever moment: those of the model, in its order, with its states. Returns them by id. */
export async function seeListing(run: Run, user: ModelUser): Promise<Map<string, Connection>> {
  const userRef = at(run.userRefs, user.user)
  const query = `userRef=${encodeURIComponent(userRef)}`
  const { ask } = at(run.apps, user.app)
  const expected = run.model.listed(user)
  const { status, body } = await ask<UserConnections>(`/api/connections?${query}`)
  if (!expected) {
    assert.equal([status, body], [404, { error: 'User not found' }])
    return new Map()
  }
  assert.is(status, 200)
  const { connections, ...rest } = body
  const has = (wanted: ModelConnection['status']) => expected.some((each) => each.status === wanted)
  assert.equal(rest, {
    userRef,
    connected: has('active'),
    needsReauth: has('needs_reauth'),
    recentConversationCount: sum(connections.map(({ recentConversationCount }) => recentConversationCount)),
    recentWindowDays: 30,
  })
  assert.equal(
    connections.map(({ id, provider, status: is }) => [id, provider, is]),
    expected.map(({ id, status: is }) => [id, 'sandbox-assistant', is]),
    'connections, newest first',
  )
  for (const [index, connection] of connections.entries()) {
    const { id, capturedAt, status: is, conversationCount, recentConversationCount } = connection
    assert.ok(capturedAt <= (connections[index - 1]?.capturedAt ?? capturedAt), 'newest capture first')
    if (is === 'revoked') assert.equal([conversationCount, recentConversationCount], [0, 0], `${id} is revoked`)
  }
  return new Map(connections.map((connection) => [connection.id, connection]))
}

/** The same in both forms. */
async function compareListing(run: Run, user: ModelUser): Promise<Map<string, Connection>> {
  const listing = await seeListing(run, user)
  if (listing.size === 0) return listing
  const userRef = at(run.userRefs, user.user)
  const older = await at(run.apps, user.app).ask<Pick<UserConnections, 'userRef' | 'connections'>>(
    `/api/conversations?userRef=${encodeURIComponent(userRef)}`,
  )
  // An active connection may have been synced in between.
  const again = older.body.connections.map((each) => ({ ...each, lastSyncAt: listing.get(each.id)?.lastSyncAt }))
  assert.equal({ ...older.body, connections: again }, { userRef, connections: [...listing.values()] }, 'the older form')
  return listing
}

/**
 * Asks for the connections of all users once everything is settled: each counts as many conversations as it lists, an active one was
 * synced since, and an account has one accountId in each app. Returns all of them by id.
 */
export async function compareListings(
  run: Run,
  { counts, since }: { counts: Map<string, Counts>; since: Date },
): Promise<Map<string, Connection>> {
  const users = run.apps.flatMap((_, app) => run.userRefs.map((_ref, user) => ({ app, user })))
  const listings = await Promise.all(users.map((user) => compareListing(run, user)))
  const all = new Map(listings.flatMap((listing) => [...listing]))
  const accountIds = new Map<string, string>()
  for (const { id, app, account, status } of run.model.connections) {
    const { conversationCount, recentConversationCount, accountId = '', lastSyncAt } = all.get(id) ?? {}
    assert.equal({ all: conversationCount, recent: recentConversationCount }, counts.get(id), `counts of ${id}`)
    if (status === 'active') assert.ok(lastSyncAt && lastSyncAt >= since.toISOString(), `${id} was synced`)
    const name = `${app} ${account}`
    assert.is(accountId, accountIds.get(name) ?? accountId, 'one accountId for one account of one app')
    accountIds.set(name, accountId)
  }
  assert.is(new Set(accountIds.values()).size, accountIds.size, 'accountIds differ between accounts and apps')
  return all
}
