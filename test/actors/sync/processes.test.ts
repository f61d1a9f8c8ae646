import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { whenDue } from '../../../actors/sync/when-due.ts'
import { Conversations } from '../../../schemas/archive/conversation.ts'
import { Commands } from '../../../schemas/command/command.ts'
import { Connections } from '../../../schemas/connection/connection.ts'
import { connectionProgress } from '../../../schemas/connection/progress.ts'
import { trusted } from '../../../schemas/database.ts'
import { type ActorWorld, startActorWorld } from '../../support/actors.ts'
import { until } from '../../support/until.ts'
import { end } from './pace/processes.ts'
import { beginIngest, complete, connected, connectionOf, ended, ingest, requestsOf, storedOf } from './support.ts'

const TIME_SCALE = 60
const REPOSITORY = new URL('../../..', import.meta.url).pathname
const SLOW = { giveUpMs: 90_000 }

const processes = suite('syncs of several processes')
let world: ActorWorld
const children: ChildProcess[] = []
processes.before(async () => {
  world = await startActorWorld({ timeScale: TIME_SCALE })
})
processes.after(async () => {
  await Promise.all(children.map((child) => end(child, 'SIGTERM')))
  await world.stop()
})

/** One more actors process on the same database. */
async function startProcess(): Promise<ChildProcess> {
  const { config } = world.runtime
  const child = spawn(process.execPath, ['--import', 'tsx', 'actors/main.ts'], {
    cwd: REPOSITORY,
    env: {
      ...process.env,
      MONGODB_URL: config.MONGODB_URL,
      MASTER_KEY: config.MASTER_KEY.toString('base64'),
      BASE_URL: config.BASE_URL,
      OPERATOR_KEY: config.OPERATOR_KEY,
      TIME_SCALE: String(TIME_SCALE),
      PROVIDER_SITE: world.site.url,
      WEBHOOK_PRIVATE_ADDRESSES: 'true',
      LOG_LEVEL: 'silent',
    },
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  children.push(child)
  await once(child, 'message')
  return child
}

const insertedSum = (id: string) =>
  world.receiver
    .named('data.imported')
    .filter(({ payload }) => payload['connectionId'] === id)
    .reduce((sum, { payload }) => sum + Number(payload['inserted']), 0)

const storedCount = async (id: string): Promise<number> =>
  Conversations.countDocuments({ archiveId: (await connectionOf(id)).archiveId ?? '' })

processes('processes that are killed in the middle of syncs lose nothing and tell nothing twice', async () => {
  const accounts = Array.from({ length: 6 }, (_, index) => `bulk-130+killed${index}@example.test`)
  const victims = [await startProcess(), await startProcess()]
  const ids = await Promise.all(accounts.map((email, index) => connected(world, { userRef: `killed ${index}`, email })))
  for (const [index, victim] of victims.entries()) {
    await until(
      'some are stored',
      async () => {
        const counts = await Promise.all(ids.map(storedCount))
        return counts.every((count) => count > 30 + 30 * index)
      },
      SLOW,
    )
    await end(victim, 'SIGKILL')
  }
  for (const id of ids) {
    await until('a complete sync', async () => (await connectionOf(id)).sync.outcome?.startsWith('complete'), SLOW)
    assert.is(await storedCount(id), 130)
    await until('every conversation told once', () => insertedSum(id) >= 130)
    assert.is(insertedSum(id), 130)
  }
})

processes('one that took a claim which is no more leaves nothing', async () => {
  const id = await connected(world, { userRef: 'stale', email: 'stale@example.test' })
  const connection = await complete(id)
  await Conversations.deleteMany({ archiveId: connection.archiveId ?? '' })
  const signal = new AbortController().signal
  await whenDue({ connection: { ...connection, fence: connection.fence - 1 }, runtime: world.runtime, signal })
  assert.is(await storedCount(id), 0)
  assert.equal((await connectionOf(id)).sync, connection.sync)
})

processes('a claim that is taken away in the middle of a sync: the next holder goes on, and it adds up', async () => {
  const id = await connected(world, { userRef: 'taken', email: 'bulk-120+taken@example.test' })
  for (const count of [10, 50]) {
    await until('some are stored', async () => (await storedCount(id)) > count)
    await Connections.updateOne(
      { _id: id },
      { $inc: { fence: 1 }, $set: { claimableAt: new Date(0) }, $unset: { claimedBy: 1 } },
    )
  }
  await complete(id)
  await until('every conversation told once', () => insertedSum(id) >= 120)
  assert.equal([await storedCount(id), insertedSum(id)], [120, 120])
})

processes('an ingestion in the middle of a sync goes first, and the sync goes on after it', async () => {
  const account = 'bulk-150+ingested@example.test'
  const id = await connected(world, { userRef: 'ingested', email: account })
  await until('some are stored', async () => (await storedCount(id)) > 10)
  const { conversations } = await world.site.control<{ conversations: unknown[] }>({ action: 'export', account })
  const { result } = await ingest(world, { connectionId: id, conversations })
  assert.is(result?.total, 150)
  assert.ok((result?.unchanged ?? 0) > 10 && (result?.inserted ?? 0) > 0)
  const [progress] = (await connectionProgress([await connectionOf(id)])).values()
  assert.is(progress?.stored, 150)
  await until('a complete sync', async () => (await connectionOf(id)).sync.outcome?.startsWith('complete'), SLOW)
  await until('every conversation told once', () => insertedSum(id) >= 150)
  assert.equal([await storedCount(id), insertedSum(id)], [150, 150])
  const [done] = (await connectionProgress([await connectionOf(id)])).values()
  assert.equal(done, { stored: 150, total: 150, done: true })
})

processes('two ingestions of one connection both come to their end', async () => {
  const account = 'bulk-600+both@example.test'
  const email = 'both@example.test'
  const id = await connected(world, { userRef: 'both', email })
  await complete(id)
  const { conversations } = await world.site.control<{ conversations: unknown[] }>({ action: 'export', account })
  const results = await Promise.all([1, 2, 3].map(() => ingest(world, { connectionId: id, conversations })))
  assert.is(
    results.reduce((sum, { result }) => sum + (result?.inserted ?? 0), 0),
    600,
  )
  assert.is(
    results.reduce((sum, { result }) => sum + (result?.total ?? 0), 0),
    1_800,
  )
})

processes('a purge in the middle of an ingestion deletes all of it', async () => {
  const id = await connected(world, { userRef: 'purged', email: 'purged@example.test' })
  const { archiveId = '' } = await complete(id)
  const { conversations } = await world.site.control<{ conversations: unknown[] }>({
    action: 'export',
    account: 'bulk-3000+purged@example.test',
  })
  const commandId = await beginIngest(world, { connectionId: id, conversations })
  await until('some are stored', async () => (await Conversations.countDocuments({ archiveId })) > 100)
  const purged = await world.purge({ userRef: 'purged', connectionId: id })
  assert.is(purged?.connectionsRevoked, 1)
  const command = await until('the end of the ingestion', () =>
    Commands.findOne({ _id: commandId, state: trusted({ $ne: 'waiting' }) }).lean(),
  )
  assert.is(command.failure?.code ?? 'done', 'connection_revoked')
  await until('nothing to be left', async () => (await Conversations.countDocuments({ archiveId })) === 0)
  await until('the events', () => insertedSum(id) >= (purged?.conversationsDeleted ?? 0))
  assert.is(insertedSum(id), purged?.conversationsDeleted)
})

processes('five crashes in a row are a quarantine, which an operator ends', async () => {
  const id = await connected(world, { userRef: 'crashing', email: 'crashing@example.test' })
  const { credential } = await complete(id)
  await Connections.updateOne({ _id: id }, { $set: { credential: Buffer.alloc(64), claimableAt: new Date(0) } })
  const crashed = await until(
    'a quarantine',
    () => Connections.findOne({ _id: id, quarantinedAt: trusted({ $exists: true }) }).lean(),
    SLOW,
  )
  assert.equal([crashed.crashes, crashed.claimableAt, crashed.status], [5, undefined, 'active'])
  await Connections.updateOne(
    { _id: id },
    {
      $set: { credential: credential ?? Buffer.alloc(0), crashes: 0, claimableAt: new Date(0) },
      $unset: { quarantinedAt: 1, 'sync.outcome': 1 },
    },
  )
  await ended(id, 'complete')
  assert.is((await storedOf(await connectionOf(id))).length, 2)
})

processes('a reconnect folds a connection whose history another process is reading', async () => {
  await startProcess()
  const email = 'bulk-400+folded@example.test'
  const first = await connected(world, { userRef: 'folded', email })
  await until('some are stored', async () => (await storedCount(first)) > 10)
  const { archiveId } = await connectionOf(first)
  const second = await connected(world, { userRef: 'folded', email })
  assert.is((await connectionOf(first)).status, 'revoked')
  await until('a complete sync', async () => (await connectionOf(second)).sync.outcome?.startsWith('complete'), SLOW)
  assert.is((await connectionOf(second)).archiveId, archiveId)
  assert.is(await storedCount(second), 400)
  await until('every conversation told once', () => insertedSum(first) + insertedSum(second) >= 400)
  assert.is(insertedSum(first) + insertedSum(second), 400)
  const answered = (await requestsOf(world, email)).filter(
    ({ path, status }) => path.includes('/conversation/') && status === 200,
  )
  assert.ok(answered.length <= 400 + 8, 'what is stored is not read again')
})

processes.run()
