import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { whenDue } from '../../actors/sync/when-due.ts'
import { HOUR, systemClock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { Commands } from '../../schemas/command/command.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { type ActorWorld, startActorWorld } from '../support/actors.ts'
import { stallNext } from '../support/stall.ts'
import { until } from '../support/until.ts'
import { interceptWrites } from '../support/writes.ts'
import { complete, connected, connectionOf, ingest, storedOf } from './sync/support.ts'

const TIME_SCALE = 60
const handOver = suite('a connection goes from one actor to another')
let world: ActorWorld
handOver.before(async () => {
  world = await startActorWorld({ timeScale: TIME_SCALE })
})
handOver.after(() => world.stop())

const idle = (id: string) =>
  until('nobody to hold it', () => Connections.findOne({ _id: id, claimedBy: trusted({ $exists: false }) }).lean())

/** What a process that dies in the middle of a run leaves: one conversation was stored, none was told. */
async function leaveRun(id: string): Promise<void> {
  const [conversation] = await storedOf(await connectionOf(id))
  const runId = newId()
  await Conversations.updateOne({ _id: conversation?._id ?? '' }, { $set: { runId, change: 'inserted' } })
  await Connections.updateOne({ _id: id }, { $set: { 'sync.runId': runId, 'sync.unchanged': 3 } })
}

handOver('a reconnect tells what a run that was cut short had stored', async () => {
  const email = 'cut-short@example.test'
  const id = await connected(world, { userRef: 'cut short', email })
  await complete(id)
  const imported = () => world.receiver.named('data.imported').filter(({ payload }) => payload['connectionId'] === id)
  await until('the first import', () => imported().length === 1)
  await leaveRun(id)
  await connected(world, { userRef: 'cut short', email })
  const { payload } = await until('the report of the run', () => imported()[1])
  const { inserted, updated, unchanged, total } = payload
  assert.equal({ inserted, updated, unchanged, total }, { inserted: 1, updated: 0, unchanged: 3, total: 4 })
})

handOver('a reconnect goes on with the cadence of its predecessor, and with none where that had none', async () => {
  const email = 'cadence@example.test'
  const reconnect = async (intervalMs: number | null) => {
    const id = await connected(world, { userRef: 'cadence', email })
    await complete(id)
    await Connections.updateOne(
      { _id: id },
      intervalMs === null ? { $unset: { 'sync.intervalMs': 1 } } : { $set: { 'sync.intervalMs': intervalMs } },
    )
    return complete(await connected(world, { userRef: 'cadence', email }))
  }
  assert.is((await reconnect(8 * HOUR)).sync.intervalMs, 16 * HOUR)
  assert.is((await reconnect(null)).sync.intervalMs, 4 * HOUR)
})

handOver('a reconnect that cannot end the connection before it, ever, is a connection all the same', async () => {
  const email = 'poison@example.test'
  await complete(await connected(world, { userRef: 'poison', email }))
  const end = interceptWrites(async ({ collection, args }, proceed) => {
    const { $set } = (args[1] ?? {}) as { $set?: Record<string, unknown> }
    if (collection === 'connections' && $set?.['status'] === 'revoked') throw new Error('no end of it')
    return proceed()
  })
  try {
    const { state, target, crashes } = await world.connect({ userRef: 'poison', email })
    assert.equal([state, crashes], ['done', 4])
    assert.is((await connectionOf(target)).status, 'active')
  } finally {
    end()
  }
})

handOver('a sync that lost its connection to a purge deletes what it stored after the purge looked', async () => {
  const id = await connected(world, { userRef: 'loser', email: 'loser@example.test' })
  const connection = await complete(id)
  const [stray] = await storedOf(connection)
  await world.purge({ userRef: 'loser', connectionId: id })
  if (!stray) throw new Error('no conversation')
  await Conversations.collection.insertOne(stray as never)
  await whenDue({ connection, runtime: world.runtime, signal: new AbortController().signal })
  assert.is(await Conversations.countDocuments({ archiveId: stray.archiveId }), 0)
})

handOver('an ingestion that stalls while its connection is purged deletes what it stores after that', async () => {
  const id = await connected(world, { userRef: 'late', email: 'late@example.test' })
  const { archiveId = '' } = await complete(id)
  const { conversations } = await world.site.control<{ conversations: unknown[] }>({
    action: 'export',
    account: 'bulk-5+late@example.test',
  })
  const stalled = stallNext({ collection: 'conversations', method: 'bulkWrite' })
  const ended = ingest(world, { connectionId: id, conversations })
  await until('the write that stalls', stalled.reached)
  await world.purge({ userRef: 'late' })
  stalled.go()
  assert.is((await ended).failure?.code, 'connection_revoked')
  assert.is(await Conversations.countDocuments({ archiveId }), 0)
})

handOver('a purge sweeps its archive again: a minute, an hour and a day later', async () => {
  const id = await connected(world, { userRef: 'swept', email: 'swept@example.test' })
  const [stray] = await storedOf(await complete(id))
  if (!stray) throw new Error('no conversation')
  const before = Date.now()
  await world.purge({ userRef: 'swept', connectionId: id })
  await Conversations.collection.insertOne(stray as never)
  const sweeps = await Commands.find({ kind: 'sweep', 'args.archiveIds': stray.archiveId })
    .sort({ claimableAt: 1 })
    .lean()
  const [sweep] = sweeps
  assert.is(sweeps.length, 3)
  assert.ok(sweep?.claimableAt && sweep.claimableAt.getTime() > before + 30_000, 'a stalled writer has ended by then')
  assert.ok((sweeps[2]?.claimableAt?.getTime() ?? 0) > before + 23 * HOUR)
  await Commands.updateOne({ _id: sweep._id }, { $set: { claimableAt: systemClock().now() } })
  await until('the sweep', () => Commands.exists({ _id: sweep._id, state: 'done' }))
  assert.is(await Conversations.countDocuments({ archiveId: stray.archiveId }), 0)
})

handOver('an ingestion leaves the connection due when it was, and says how it ended', async () => {
  const account = 'ingests@example.test'
  const id = await connected(world, { userRef: 'ingests', email: account })
  await complete(id)
  const due = new Date(Date.now() + 48 * HOUR)
  await Connections.updateOne({ _id: id }, { $set: { claimableAt: due } })
  const { conversations } = await world.site.control<{ conversations: unknown[] }>({
    action: 'export',
    account: 'bulk-5+ingests@example.test',
  })
  const { result } = await ingest(world, { connectionId: id, conversations })
  assert.is(result?.inserted, 5)
  const { claimableAt, sync } = await idle(id)
  assert.equal(claimableAt, due)
  assert.is(sync.runId, undefined)
  assert.is(sync.outcome, 'export ingested (5 inserted, 0 updated)')
})

handOver.run()
