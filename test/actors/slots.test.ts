import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createSlots } from '../../actors/sync/slots.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { type ActorWorld, startActorWorld } from '../support/actors.ts'
import { until } from '../support/until.ts'
import { complete, connected, connectionOf, makeDue } from './sync/support.ts'

const SLOTS = 2
const slots = suite('slots for syncs')
let world: ActorWorld
slots.before(async () => {
  // A long history keeps its slot for a minute of the machine's, longer than the suite waits, unless it gives it up.
  world = await startActorWorld({ timeScale: 10, syncsAtOnce: SLOTS })
})
slots.after(() => world.stop())

const storedCount = async (id: string) =>
  Conversations.countDocuments({ archiveId: (await connectionOf(id)).archiveId ?? '' })

slots('as many give their slot up as wait for one, and no more', () => {
  const { take, want } = createSlots()
  const [one, two, three] = [take(), take(), take()]
  assert.equal([one.isWanted(), two.isWanted()], [false, false])
  want(2)
  assert.equal([two.isWanted(), one.isWanted(), three.isWanted()], [true, true, false])
  two.leave()
  assert.equal([one.isWanted(), three.isWanted()], [true, true], 'two still wait, and one of those that leave has left')
  one.leave()
  three.leave()
  want(0)
  assert.is(take().isWanted(), false)
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

slots.run()
