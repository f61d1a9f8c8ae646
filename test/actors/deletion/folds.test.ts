import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Conversations } from '../../../schemas/archive/conversation.ts'
import { ConversationBodies } from '../../../schemas/archive/conversation-body.ts'
import { Connections } from '../../../schemas/connection/connection.ts'
import { type ActorWorld, startActorWorld } from '../../support/actors.ts'
import { stallNext } from '../../support/stall.ts'
import { until } from '../../support/until.ts'
import { complete, connected, connectionOf } from '../sync/support.ts'
import { assertGone, CREATION, FOLD, failing, liveOf } from './support.ts'

const deletion = suite('a deletion wins over folds')
let world: ActorWorld
deletion.before(async () => {
  world = await startActorWorld({ timeScale: 60 })
})
deletion.after(() => world.stop())

deletion(
  'killed between the new connection and the fold, then a purge of the old one: the new one keeps the history',
  async () => {
    const email = 'unfolded@example.test'
    const old = await connected(world, { userRef: 'unfolded', email })
    const { archiveId = '' } = await complete(old)
    const stored = await Conversations.countDocuments({ archiveId })
    const heal = failing(FOLD)
    const connect = world.connect({ userRef: 'unfolded', email })
    await until('the new one', async () => (await liveOf('unfolded')).length === 2)
    const result = await world.purge({ userRef: 'unfolded', connectionId: old })
    assert.equal([result?.connectionsRevoked, result?.conversationsDeleted], [1, 0])
    heal()
    const id = (await connect).result?.connectionId ?? ''
    const after = await complete(id)
    assert.is(after.archiveId, archiveId)
    assert.is(await Conversations.countDocuments({ archiveId }), stored)
    assert.equal(await liveOf('unfolded').then((all) => all.map(({ _id }) => _id)), [id])
    await Connections.updateOne({ _id: id }, { $set: { claimableAt: new Date(0) }, $unset: { lastSyncAt: 1 } })
    await until('another sync', async () => (await connectionOf(id)).lastSyncAt)
  },
)

deletion('the same, then a purge of the new one: both go, with the history', async () => {
  const email = 'unfolded-new@example.test'
  const old = await connected(world, { userRef: 'unfolded new', email })
  const { archiveId = '' } = await complete(old)
  const stored = await Conversations.countDocuments({ archiveId })
  const heal = failing(FOLD)
  const connect = world.connect({ userRef: 'unfolded new', email })
  await until('the new one', async () => (await liveOf('unfolded new')).length === 2)
  const next = (await liveOf('unfolded new')).find(({ _id }) => _id !== old)?._id ?? ''
  // The fold of the deletion is the same write as that of the reconnect.
  heal()
  const result = await world.purge({ userRef: 'unfolded new', connectionId: next })
  await connect
  assert.is(result?.conversationsDeleted, stored)
  await assertGone('unfolded new')
  assert.is(await Conversations.countDocuments({ archiveId }), 0)
})

deletion(
  'a reconnect that has decided for the archive of a connection that is purged begins one of its own',
  async () => {
    const email = 'decided@example.test'
    const old = await connected(world, { userRef: 'decided', email })
    const { archiveId = '' } = await complete(old)
    const stalled = stallNext(CREATION)
    const connect = world.connect({ userRef: 'decided', email })
    await until('the creation', stalled.reached)
    const result = await world.purge({ userRef: 'decided', connectionId: old })
    assert.ok((result?.conversationsDeleted ?? 0) > 0)
    stalled.go()
    const after = await complete((await connect).result?.connectionId ?? '')
    assert.is.not(after.archiveId, archiveId)
    assert.is(await Conversations.countDocuments({ archiveId }), 0)
    assert.ok((await Conversations.countDocuments({ archiveId: after.archiveId ?? '' })) > 0)
  },
)

deletion('a sync that stalls until its connection was folded and the new one purged leaves nothing', async () => {
  const email = 'folded-writer@example.test'
  const old = await connected(world, { userRef: 'folded writer', email })
  const { archiveId = '' } = await complete(old)
  await world.site.control({ action: 'add', account: email })
  const stalled = stallNext({ collection: 'conversations', method: 'bulkWrite' })
  await Connections.updateOne({ _id: old }, { $set: { claimableAt: new Date(0) } })
  await until('the write that stalls', stalled.reached)
  // As where its process is frozen for longer than its claim holds: another one takes the connection.
  await Connections.updateOne({ _id: old }, { $set: { claimableAt: new Date(0) }, $unset: { claimedBy: 1 } })
  await connected(world, { userRef: 'folded writer', email })
  await world.purge({ userRef: 'folded writer' })
  stalled.go()
  await until('its end', () => !world.actors().some(({ path }) => path.endsWith(`/${old}`)))
  assert.is(await Conversations.countDocuments({ archiveId }), 0)
  assert.is(await ConversationBodies.countDocuments({ archiveId }), 0)
})

deletion.run()
