import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { whenDue } from '../../actors/sync/when-due.ts'
import { DAY, HOUR, MINUTE } from '../../core/clock.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { claimIdle } from '../../schemas/claims.ts'
import { Accounts } from '../../schemas/connection/account.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { type ActorWorld, startActorWorld } from '../support/actors.ts'
import { until } from '../support/until.ts'
import { virtualClock } from '../support/virtual-clock.ts'
import { complete, connected, connectionOf } from './sync/support.ts'

const cadence = suite('sync cadence over a connection’s life')
let world: ActorWorld
cadence.before(async () => {
  world = await startActorWorld({ timeScale: 60 })
})
cadence.after(() => world.stop())

/** Of the sandbox provider's list. */
const PAGE_SIZE = 28

/** A connection whose syncs are made by hand, each at the time when it is due, on a clock that is driven. */
async function drivenBy(email: string, { requestsPerMinute = 600 } = {}) {
  const id = await connected(world, { userRef: email, email })
  await complete(id)
  await until('what the first sync told to have left', async () => (await connectionOf(id)).outbox.length === 0)
  // Days ahead of the machine's time: the world's own actors never find it due.
  const clock = virtualClock(new Date(Date.now() + 30 * DAY))
  const profiles = world.runtime.profiles.map((profile) => ({ ...profile, requestsPerMinute }))
  const runtime = { ...world.runtime, clock, profiles }
  /** Syncs and returns after which time (ms) the next one is due; null: never by itself. */
  const sync = async (): Promise<number | null> => {
    const claimed = await claimIdle(Connections, { id, now: clock.now() })
    if (!claimed) throw new Error('the connection is held')
    const signal = new AbortController().signal
    await whenDue({ connection: { ...claimed, fence: claimed.heldFence }, runtime, signal })
    const { claimableAt } = await connectionOf(id)
    const waitMs = claimableAt ? claimableAt.getTime() - clock.now().getTime() : null
    if (claimableAt) clock.jump(claimableAt)
    return waitMs
  }
  return { id, sync }
}

const add = (account: string) => world.site.control<{ id: string }>({ action: 'add', account })
const hours = (waitMs: number | null) => waitMs && waitMs / HOUR

cadence('doubles from 4 to 48 hours while nothing is new, and begins again with what is added or changed', async () => {
  const account = 'doubles@example.test'
  const { sync } = await drivenBy(account)
  const { id } = await add(account)
  const waits = [await sync()]
  while (waits.length < 7) waits.push(await sync())
  assert.equal(waits.map(hours), [4, 8, 16, 32, 48, 48, 48])
  await world.site.control({ action: 'change', account, id, messages: [{ role: 'user', text: 'One more thing' }] })
  assert.equal([hours(await sync()), hours(await sync())], [4, 8])
})

cadence('comes back every 15 minutes until the history is complete, then after 4 hours', async () => {
  const { id, sync } = await drivenBy('bulk-160+history@example.test', { requestsPerMinute: 10 })
  const { accountId, archiveId = '' } = await connectionOf(id)
  await Accounts.updateOne({ _id: accountId }, { $set: { backfill: { done: false } } })
  await Conversations.deleteMany({ archiveId })
  await Connections.updateOne({ _id: id }, { $unset: { 'sync.intervalMs': 1, lastSyncAt: 1 } })
  const waits: (number | null)[] = []
  const counts: number[] = []
  do {
    waits.push(await sync())
    counts.push(await Conversations.countDocuments({ archiveId }))
  } while (counts.at(-1) !== 160 && waits.length < 10)
  assert.ok(waits.length >= 2, 'ten minutes of ten requests are not enough for 160 conversations')
  assert.equal(waits.slice(0, -1), Array(waits.length - 1).fill(15 * MINUTE))
  assert.equal([hours(waits.at(-1) ?? null), hours(await sync())], [4, 8])
})

cadence('waits an hour after a rate limit, longer where the provider says so; news before it counts', async () => {
  const account = 'limited-life@example.test'
  const { id, sync } = await drivenBy(account)
  const { archiveId = '' } = await connectionOf(id)
  const before = await Conversations.countDocuments({ archiveId })
  const limit = (path: string, retryAfter?: number) =>
    world.site.control({
      action: 'fail',
      account,
      mode: 'status',
      status: 429,
      path,
      ...(retryAfter && { retryAfter: String(retryAfter) }),
    })
  assert.equal([hours(await sync()), hours(await sync())], [8, 16])
  await limit('/conversations')
  assert.is(hours(await sync()), 1)
  await limit('/conversations', 5 * 3600)
  assert.is(hours(await sync()), 5)
  assert.is(hours(await sync()), 32, 'a limit changes nothing of the interval')
  for (let page = 0; page < PAGE_SIZE; page += 1) await add(account)
  await limit('offset=2')
  assert.is(hours(await sync()), 1)
  assert.is(
    await Conversations.countDocuments({ archiveId }),
    before + PAGE_SIZE,
    'a page of news came before the limit',
  )
  assert.equal([hours(await sync()), hours(await sync())], [4, 8])
})

cadence('never comes back once the session has ended', async () => {
  const account = 'ended-life@example.test'
  const { id, sync } = await drivenBy(account)
  await world.site.control({ action: 'end-sessions', account })
  assert.is(await sync(), null)
  const { status, outbox } = await connectionOf(id)
  assert.is(status, 'needs_reauth')
  assert.equal(
    outbox.map(({ event }) => event),
    ['reauth.needed'],
  )
})

cadence('a sync that comes to its end makes up for the crashes before it', async () => {
  const { id, sync } = await drivenBy('crashed-life@example.test')
  await Connections.updateOne({ _id: id }, { $set: { crashes: 4 } })
  await sync()
  assert.is((await connectionOf(id)).crashes, 0)
})

cadence.run()
