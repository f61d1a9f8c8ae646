import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HOUR } from '../../../core/clock.ts'
import { Connections } from '../../../schemas/connection/connection.ts'
import { type ActorWorld, startActorWorld } from '../../support/actors.ts'
import { until } from '../../support/until.ts'
import {
  callsOf,
  complete,
  connected,
  connectionOf,
  ended,
  payloadOf,
  providerHas,
  requestsOf,
  storedOf,
  syncAgain,
} from './support.ts'

const TIME_SCALE = 1000
const faults = suite('what a provider does to a sync')
let world: ActorWorld
faults.before(async () => {
  world = await startActorWorld({ timeScale: TIME_SCALE })
})
faults.after(() => world.stop())

const importedEvents = (id: string) =>
  world.receiver.named('data.imported').filter(({ payload }) => payload['connectionId'] === id)
const reauths = (id: string) =>
  world.receiver.named('reauth.needed').filter(({ payload }) => payload['connectionId'] === id)
const fail = (account: string, order: object) => world.site.control({ action: 'fail', account, ...order })

async function assertStored(id: string, account: string): Promise<void> {
  const conversations = await storedOf(await connectionOf(id))
  const payloads = await Promise.all(
    conversations.map(
      async (conversation): Promise<[string, unknown]> => [conversation.externalId, await payloadOf(conversation)],
    ),
  )
  assert.equal(new Map(payloads.sort()), new Map([...(await providerHas(world, account))].sort()))
}

faults('one 401 of the API does not end the session', async () => {
  const account = 'once401@example.test'
  const id = await connected(world, { userRef: 'once401', email: account })
  await complete(id)
  await fail(account, { mode: 'status', status: 401, path: '/backend-api' })
  await syncAgain(id)
  assert.is((await connectionOf(id)).status, 'active')
  await world.site.control({ action: 'expire-tokens', account })
  assert.match((await syncAgain(id)).sync.outcome ?? '', /^complete/)
  assert.is(reauths(id).length, 0)
})

faults('403, 5xx, dropped connections and cut answers are waited out inside one sync', async () => {
  const account = 'flaky@example.test'
  for (const order of [
    { mode: 'status', status: 403, count: 2, path: '/backend-api' },
    { mode: 'status', status: 503, count: 2, path: '/conversation/' },
    { mode: 'reset', count: 1, path: '/conversation/' },
    { mode: 'truncate', count: 1, path: '/conversations' },
  ])
    await fail(account, order)
  const id = await connected(world, { userRef: 'flaky', email: account })
  await complete(id)
  await assertStored(id, account)
})

faults('a provider that does not serve is asked again later, and its session is kept', async () => {
  const account = 'away@example.test'
  const id = await connected(world, { userRef: 'away', email: account })
  const { lastSyncAt } = await complete(id)
  await fail(account, { mode: 'status', status: 502, count: 4, path: '/api/auth/session' })
  const away = await syncAgain(id)
  assert.match(away.sync.outcome ?? '', /^unavailable/)
  assert.is(away.status, 'active')
  assert.equal(away.lastSyncAt, lastSyncAt, 'the session was not verified')
  assert.ok(away.claimableAt)
  await complete(id)
})

faults('a conversation whose answer cannot be used is read by and by, the others at once', async () => {
  const account = 'garbage@example.test'
  await fail(account, { mode: 'garbage', path: '/conversation/', count: 2 })
  const id = await connected(world, { userRef: 'garbage', email: account })
  await complete(id)
  await until('the rest', async () => (await storedOf(await connectionOf(id))).length === 2)
  await assertStored(id, account)
  const lasting = 'lasting@example.test'
  const broken = await connected(world, { userRef: 'lasting', email: lasting })
  await complete(broken)
  await world.site.control({ action: 'add', account: lasting, id: 'broken' })
  await world.site.control({ action: 'add', account: lasting, id: 'whole' })
  await fail(lasting, { mode: 'garbage', path: '/conversation/broken', count: 5 })
  await syncAgain(broken)
  const ids = async () => (await storedOf(await connectionOf(broken))).map(({ externalId }) => externalId)
  assert.ok((await ids()).includes('whole'))
  await until('the broken one', async () => {
    await syncAgain(broken)
    return (await ids()).includes('broken')
  })
  await assertStored(broken, lasting)
})

faults('429 ends the sync with what it has stored; the next is an hour later, or when the provider says', async () => {
  const cases = [
    { form: 'seconds', retryAfter: 60, waitMs: HOUR },
    { form: 'none', retryAfter: 60, waitMs: HOUR },
    { form: 'date', retryAfter: 3 * 3600, waitMs: 3 * HOUR },
    { form: 'seconds', retryAfter: 5 * 3600, waitMs: 5 * HOUR },
  ]
  await Promise.all(
    cases.map(async ({ waitMs, ...limit }, index) => {
      const account = `bulk-20+limited${index}@example.test`
      await world.site.control({ action: 'limit', account, after: 7, blockMs: 60_000, ...limit })
      const before = Date.now()
      const id = await connected(world, { userRef: `limited ${index}`, email: account })
      const limited = await ended(id, 'rate-limited')
      assert.is((await storedOf(limited)).length, 6, 'all that was read before the 429')
      const due = limited.claimableAt?.getTime() ?? 0
      // An HTTP date has whole seconds, and says so much less.
      assert.ok(
        due >= before + waitMs / TIME_SCALE - 1 && due <= Date.now() + waitMs / TIME_SCALE,
        `${index}: ${due - before}`,
      )
      const told = await until('data.imported', () => importedEvents(id)[0])
      assert.is(told.payload['inserted'], 6)
      const { refused } = await callsOf(world, account)
      assert.ok(refused <= 4, 'what was on its way, and then the provider is left alone')
      await world.site.control({ action: 'limit', account, after: null })
      await complete(id)
      await assertStored(id, account)
      const answered = (await requestsOf(world, account)).filter(
        ({ path, status }) => path.includes('/conversation/') && status === 200,
      )
      assert.is(answered.length, 20, 'nothing is read twice')
    }),
  )
})

faults('nothing that waits for its turn is sent after a 429', async () => {
  const account = 'bulk-20+waiting@example.test'
  const [profile] = world.runtime.profiles
  const { requestsPerMinute = 60 } = profile ?? {}
  await world.site.control({ action: 'limit', account, after: 2, blockMs: 60_000 })
  try {
    // A turn lasts longer than an answer takes.
    if (profile) profile.requestsPerMinute = 1
    await ended(await connected(world, { userRef: 'waiting', email: account }), 'rate-limited')
  } finally {
    if (profile) profile.requestsPerMinute = requestsPerMinute
  }
  const { refused } = await callsOf(world, account)
  assert.ok(refused >= 1 && refused <= 2, `${refused} requests were refused`)
})

faults('an account that is limited after every few calls is read in the end', async () => {
  const account = 'limited@example.test'
  const id = await connected(world, { userRef: 'ever limited', email: account })
  await complete(id)
  await assertStored(id, account)
  const events = await until('all events', async () => {
    const list = importedEvents(id)
    const sum = list.reduce((all, { payload }) => all + Number(payload['inserted']), 0)
    return sum === 25 ? list : null
  })
  assert.ok(events.length >= 3)
})

faults('a session that ends in the middle of a sync keeps what was read', async () => {
  const account = 'bulk-60+ending@example.test'
  await fail(account, { mode: 'hang', path: 'offset=27' })
  const id = await connected(world, { userRef: 'ending', email: account })
  await until('the first page', async () => (await storedOf(await connectionOf(id))).length >= 28)
  await world.site.control({ action: 'end-sessions', account })
  await Connections.updateOne({ _id: id }, { $set: { yieldRequestedAt: new Date() } })
  await until('reauth.needed', () => reauths(id)[0])
  const { status, claimableAt, archiveId } = await connectionOf(id)
  assert.equal([status, claimableAt], ['needs_reauth', undefined])
  assert.ok((await storedOf({ archiveId: archiveId ?? '' })).length >= 28)
  const requests = (await requestsOf(world, account)).length
  assert.is(reauths(id).length, 1)
  await world.site.control({ action: 'list', account })
  assert.is((await requestsOf(world, account)).length, requests, 'the provider is left alone')
})

faults('a session of another account is none', async () => {
  const account = 'swapped@example.test'
  const id = await connected(world, { userRef: 'swapped', email: account })
  await complete(id)
  const other = await world.site.signIn('somebody-else@example.test')
  const { isKeyed } = await import('../../../actors/connection/keys.ts')
  const { openCredential, sealCredential } = await import('../../../schemas/secrets.ts')
  const connection = await connectionOf(id)
  if (!isKeyed(connection) || !connection.credential) throw new Error('no credential')
  const key = world.keyring.unwrap(connection.key)
  const { account: known } = openCredential({ id, key, sealed: connection.credential })
  const sealed = sealCredential({ id, key, credential: { cookie: other, ...(known && { account: known }) } })
  await Connections.updateOne({ _id: id }, { $set: { credential: sealed, claimableAt: new Date(0) } })
  await until('reauth.needed', () => reauths(id)[0])
  assert.is((await storedOf(connection)).length, 2)
})

faults.run()
