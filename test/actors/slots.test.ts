import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createSlots } from '../../actors/sync/slots.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { type ActorWorld, startActorWorld } from '../support/actors.ts'
import { until } from '../support/until.ts'
import { complete, connected, connectionOf, makeDue } from './sync/support.ts'

/** Of which one app gets two: as many as are left besides. */
const SLOTS = 4
const slots = suite('slots for syncs')
let world: ActorWorld
slots.before(async () => {
  // A long history keeps its slot for a minute of the machine's, longer than the suite waits, unless it gives it up.
  world = await startActorWorld({ timeScale: 10, syncsAtOnce: SLOTS })
})
slots.after(() => world.stop())

const underWay = () => Connections.find({ claimedBy: trusted({ $exists: true }) }).lean()
const storedCount = async (id: string) =>
  Conversations.countDocuments({ archiveId: (await connectionOf(id)).archiveId ?? '' })

slots('as many of an app give their slot up as are wanted of it, and no more', () => {
  const { take, want, takeGivenUp } = createSlots()
  const [one, two, three] = [take('app'), take('app'), take('app')]
  const other = take('other')
  assert.equal([one.isWanted(), two.isWanted()], [false, false])
  want(new Map([['app', 2]]))
  assert.not.ok(other.isWanted())
  assert.equal([two.isWanted(), one.isWanted(), three.isWanted()], [true, true, false])
  two.leave()
  assert.equal([one.isWanted(), three.isWanted()], [true, true], 'two still wait, and one of those that leave has left')
  one.leave()
  three.leave()
  other.leave()
  assert.equal([...takeGivenUp()], [['app', 3]])
  assert.equal([...takeGivenUp()], [])
  want(new Map())
  assert.is(take('app').isWanted(), false)
})

slots('a first sync begins while long backfills have every slot, and they go on after it', async () => {
  const overdue = await connected(world, { userRef: 'overdue', email: 'overdue@example.test' })
  const { lastSyncAt } = await complete(overdue)
  const busy = await Promise.all(
    [1, 2].map((index) => connected(world, { userRef: `busy ${index}`, email: `bulk-2000+busy${index}@example.test` })),
  )
  await until('every slot to be taken', async () =>
    (await Promise.all(busy.map(storedCount))).every((count) => count > 0),
  )
  await makeDue(overdue)
  const id = await connected(world, { userRef: 'newcomer', email: 'newcomer@example.test' })
  const newcomer = await complete(id)
  const left = await until('one that gave its slot up', () =>
    Connections.findOne({ 'sync.outcome': /^interrupted/ }).lean(),
  )
  const stored = await storedCount(left._id)
  assert.ok(stored > 0)
  await until('it to go on', async () => (await storedCount(left._id)) > stored)
  const after = await until('the next sync of the one that was due before', async () => {
    const synced = (await connectionOf(overdue)).lastSyncAt
    return synced && lastSyncAt && synced > lastSyncAt ? synced : null
  })
  assert.ok(newcomer.lastSyncAt && newcomer.lastSyncAt < after, 'the first sync went before it')
})

slots('where every slot is taken, an app without any gets one, and a first sync its own app’s', async () => {
  for (const app of ['two', 'three', 'four']) await world.makeApp(`app-${app}`)
  const late = await connected(world, { userRef: 'late', email: 'late@example.test', appId: 'app-four' })
  const { lastSyncAt: before } = await complete(late)
  const beginLong = (app: string) =>
    connected(world, { userRef: 'long', email: `bulk-2000+${app}@example.test`, appId: `app-${app}` })
  for (const app of ['two', 'three']) await beginLong(app)
  await until('every slot to be taken', async () => (await underWay()).length === SLOTS)
  await makeDue(late)
  await until('the sync of the one that has none', async () => {
    const { lastSyncAt } = await connectionOf(late)
    return lastSyncAt && before && lastSyncAt > before
  })
  await beginLong('four')
  await until('every slot to be taken again', async () => (await underWay()).length === SLOTS)
  await complete(await connected(world, { userRef: 'first', email: 'first@example.test', appId: 'app-two' }))
  const apps = new Set((await underWay()).map(({ appId }) => appId))
  assert.ok(apps.has(world.appId) && apps.has('app-three') && apps.has('app-four'), 'the others go on')
})

slots.run()
