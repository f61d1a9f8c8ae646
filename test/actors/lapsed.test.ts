import { MongoClient } from 'mongodb'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { afterCrash } from '../../actors/crash.ts'
import { systemClock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { claimIdle } from '../../schemas/claims.ts'
import { type Command, Commands } from '../../schemas/command/command.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { type ActorWorld, startActorWorld } from '../support/actors.ts'
import { startDatabaseProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'
import { beginIngest, complete, connected, connectionOf, ended } from './sync/support.ts'

const lapsed = suite('claims that ran out')
let world: ActorWorld
lapsed.before(async () => {
  world = await startActorWorld({ timeScale: 10 })
})
lapsed.after(() => world.stop())

const idle = (id: string): Promise<Connection> =>
  until('an idle connection', () =>
    Connections.findOne({ _id: id, claimedBy: trusted({ $exists: false }) }).lean<Connection>(),
  )
/** As a process leaves a sync that it died of, after `crashes` others. */
const leaveSync = async (id: string, crashes: number): Promise<void> => {
  await idle(id)
  const died = { claimedBy: newId(), claimableAt: new Date(0), crashes, 'sync.outcome': 'under way' }
  await Connections.updateOne({ _id: id }, { $set: died, $inc: { fence: 1 } })
}
const commandOf = async (id: string): Promise<Command> => (await Commands.findById(id).lean<Command>()) as Command
const conversation = (id: string) => ({ id, title: id, update_time: 1_760_000_000, current_node: null, mapping: {} })

lapsed('the first is tried again at once, what follows at moments that are far apart', () => {
  const clock = { ...systemClock(), after: (ms: number) => new Date(ms) }
  const retries = (before: number) =>
    Array.from({ length: 200 }, () => afterCrash({ before, crash: 'lapsed', clock }).retryAt?.getTime() ?? -1)
  assert.ok(retries(0).every((ms) => ms === 0))
  for (const before of [1, 2, 3]) {
    const sorted = retries(before).sort((a, b) => a - b)
    const spread = (sorted.at(-1) ?? 0) - (sorted[0] ?? 0)
    assert.ok(spread > 20_000, `after ${before} others within ${spread} ms`)
  }
  assert.ok(retries(4).every((ms) => ms === -1))
})

lapsed('a database that was lost counts for nothing, however often', async () => {
  const clock = systemClock()
  const errors: unknown[] = []
  const nobody = new MongoClient('mongodb://127.0.0.1:1', { serverSelectionTimeoutMS: 50 })
  await nobody
    .db()
    .command({ ping: 1 })
    .catch((error: unknown) => errors.push(error))
  const proxy = await startDatabaseProxy(world.runtime.config.MONGODB_URL)
  const client = await MongoClient.connect(proxy.url, { retryReads: false })
  const lost = proxy.loseAnswerTo('none')
  await client
    .db()
    .collection('none')
    .findOne({})
    .catch((error: unknown) => errors.push(error))
  assert.ok(lost.lost())
  await Promise.all([client.close(), nobody.close()])
  await proxy.stop()
  assert.is(errors.length, 2)
  for (const error of errors) {
    const { crashes, retryAt } = afterCrash({ before: 4, crash: { error }, clock })
    assert.is(crashes, 4, String(error))
    assert.ok(retryAt)
  }
  assert.is(afterCrash({ before: 4, crash: { error: new Error('its own') }, clock }).retryAt, null)
})

lapsed('a sync whose process died is tried again, and one that ends well counts anew', async () => {
  const id = await connected(world, { userRef: 'once', email: 'once@example.test' })
  await complete(id)
  await leaveSync(id, 0)
  assert.is((await complete(id)).crashes, 0)
  await leaveSync(id, 3)
  const waits = await until('the fourth', async () => {
    const connection = await connectionOf(id)
    return connection.crashes === 4 ? connection : null
  })
  assert.is(waits.claimedBy, undefined)
  assert.is(waits.sync.outcome, 'under way', 'it waits')
})

lapsed('five in a row set a sync aside, with the reason, until an operator has it synced', async () => {
  const id = await connected(world, { userRef: 'five', email: 'five@example.test' })
  await complete(id)
  await leaveSync(id, 4)
  const aside = await ended(id, 'set aside')
  assert.equal([aside.crashes, aside.claimableAt, aside.status], [5, undefined, 'active'])
  assert.ok(aside.quarantinedAt)
  assert.match(aside.sync.outcome ?? '', /after 5 crashes in a row.*its process died/)
  const counted = await world.runtime.metrics.getSingleMetricAsString('ccs_syncs_total')
  assert.match(counted, /outcome="crashed"\} [1-9]/)
})

lapsed('what holds a connection for other work and dies says nothing about its syncs', async () => {
  const id = await connected(world, { userRef: 'held', email: 'held@example.test' })
  await complete(id)
  await idle(id)
  await Connections.updateOne({ _id: id }, { $set: { crashes: 4, 'sync.outcome': 'under way' } })
  const now = new Date()
  assert.ok(await claimIdle(Connections, { id, now }))
  await Connections.updateOne({ _id: id }, { $set: { claimableAt: new Date(0) } })
  assert.is((await complete(id)).crashes, 0)
})

lapsed(
  'an ingestion whose process died five times fails with the reason, and leaves its connection as it was',
  async () => {
    const id = await connected(world, { userRef: 'poison', email: 'poison@example.test' })
    await complete(id)
    await idle(id)
    const holder = { claimedBy: newId(), claimableAt: new Date(Date.now() + 60_000) }
    await Connections.updateOne({ _id: id }, { $set: holder, $inc: { fence: 1 } })
    const commandId = await beginIngest(world, { connectionId: id, conversations: [conversation('c1')] })
    const claimed = await until('its claim', async () => {
      const command = await commandOf(commandId)
      return command.claimedBy ? command : null
    })
    const died = { claimedBy: newId(), claimableAt: new Date(0), crashes: 4 }
    await Commands.updateOne({ _id: commandId }, { $set: died, $inc: { fence: 1 } })
    const failed = await until('its end', async () => {
      const command = await commandOf(commandId)
      return command.state === 'failed' ? command : null
    })
    assert.ok(failed.fence > claimed.fence)
    assert.is(failed.failure?.code, 'internal')
    assert.match(failed.failure?.values?.['reason'] ?? '', /after 5 crashes in a row.*its process died/)
    await Connections.updateOne({ _id: id }, { $set: { claimableAt: new Date(0) }, $unset: { claimedBy: 1 } })
    assert.is((await ended(id, 'complete')).quarantinedAt, undefined)
  },
)

lapsed('an ingestion that gets on counts anew, however often its process dies', async () => {
  const id = await connected(world, { userRef: 'long', email: 'long@example.test' })
  await complete(id)
  const commandId = await beginIngest(world, { connectionId: id, conversations: [conversation('c2')] })
  await Commands.updateOne({ _id: commandId, state: 'waiting' }, { $set: { crashes: 4 } })
  const done = await until('its end', async () => {
    const command = await commandOf(commandId)
    return command.state === 'done' ? command : null
  })
  assert.is(done.crashes, 0)
})

lapsed.run()
