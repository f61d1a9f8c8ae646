import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { ConversationBodies } from '../../schemas/archive/conversation-body.ts'
import { Commands } from '../../schemas/command/command.ts'
import { BrowserProfiles } from '../../schemas/connection/browser-profile.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { PendingConnections } from '../../schemas/connection/reservation.ts'
import { trusted } from '../../schemas/database.ts'
import { Leases } from '../../schemas/lease/lease.ts'
import { Captures } from '../../schemas/user/capture.ts'
import { ensureUser, Users } from '../../schemas/user/user.ts'
import { type ActorWorld, startActorWorld } from '../support/actors.ts'
import { claimsRunOut } from '../support/claims-run-out.ts'
import { stallNext } from '../support/stall.ts'
import { until } from '../support/until.ts'
import { interceptWrites, type Write } from '../support/writes.ts'
import { complete, connected, connectionOf } from './sync/support.ts'

const DAY_AFTER = new Date(Date.now() + 86_400_000)

const deletion = suite('deletion wins')
let world: ActorWorld
deletion.before(async () => {
  world = await startActorWorld({ timeScale: 60 })
})
deletion.after(() => world.stop())

const says =
  (text: string) =>
  ([, update]: unknown[]): boolean =>
    JSON.stringify(update).includes(text)

/** The write that makes a connection of its place. */
const CREATION = { collection: 'connections', method: 'updateOne', holds: says('"active"') } as const
/** The write that ends a predecessor. */
const FOLD = { collection: 'connections', method: 'findOneAndUpdate', holds: says('"revoked"') } as const

/** Lets writes of this kind fail, as where their process dies; returns how to end that. */
function failing({ collection, method, holds }: Pick<Write, 'collection' | 'method'> & typeof FOLD): () => void
function failing({
  collection,
  method,
  holds,
}: {
  collection: string
  method: string
  holds(args: unknown[]): boolean
}) {
  return interceptWrites(async (write, proceed) => {
    const meant = write.collection === collection && write.method === method && holds(write.args)
    return meant ? Promise.reject(new Error('the process died')) : proceed()
  })
}

const connectionsOf = (userRef: string) => Connections.find({ userRef }).lean<Connection[]>()
const liveOf = async (userRef: string) => (await connectionsOf(userRef)).filter(({ status }) => status !== 'revoked')

/** Nothing of the user is in use, nothing can be read, nothing is left. */
async function assertGone(userRef: string): Promise<void> {
  const connections = await connectionsOf(userRef)
  const user = await Users.findOne({ userRef }).lean()
  for (const { _id, status, key, credential, archiveId, archiveKey, purge } of connections) {
    assert.equal(
      { status, key, credential, archiveId, archiveKey },
      { status: 'revoked', key: undefined, credential: undefined, archiveId: undefined, archiveKey: undefined },
    )
    assert.is(await BrowserProfiles.countDocuments({ _id }), 0)
    if (purge?.archiveId) assert.is(await Conversations.countDocuments({ archiveId: purge.archiveId }), 0)
  }
  assert.is(await Connections.collection.countDocuments({ userId: user?._id, status: 'pending' } as never), 0)
}

deletion(
  'a purge does not wait for a reconnect that waits for a slow sync, and the reconnect comes to nothing',
  async () => {
    const email = 'slow-sync@example.test'
    const id = await connected(world, { userRef: 'slow sync', email })
    await complete(id)
    const stalled = stallNext({ collection: 'connections', method: 'findOneAndUpdate', holds: says('sync.runId') })
    await Connections.updateOne({ _id: id }, { $set: { claimableAt: new Date(0) } })
    await until('the sync that stalls', stalled.reached)
    const reconnect = world.connect({ userRef: 'slow sync', email })
    await until('the reconnect that waits', () =>
      Connections.exists({ _id: id, yieldRequestedAt: trusted({ $exists: true }) }),
    )
    const result = await world.purge({ userRef: 'slow sync' })
    assert.equal(
      [result?.connectionsRevoked, result?.conversationsDeleted],
      [1, (await connectionOf(id)).purge?.conversationsDeleted],
    )
    assert.ok((result?.conversationsDeleted ?? 0) > 0)
    await assertGone('slow sync')
    stalled.go()
    assert.is((await reconnect).failure?.code, 'flow_ended')
    await assertGone('slow sync')
  },
)

deletion('a creator that stalls past its claim, until after the purge, creates nothing', async () => {
  const stalled = stallNext(CREATION)
  const connect = world.connect({ userRef: 'stalled creator', email: 'stalled-creator@example.test' })
  await until('the creation', stalled.reached)
  await claimsRunOut()
  const result = await world.purge({ userRef: 'stalled creator' })
  assert.is(result?.connectionsRevoked, 0)
  stalled.go()
  assert.is((await connect).failure?.code, 'flow_ended')
  assert.equal(await connectionsOf('stalled creator'), [])
  await assertGone('stalled creator')
})

deletion('one that stalls while it takes its place creates nothing either', async () => {
  const stalled = stallNext({ collection: 'connections', method: 'insertOne' })
  const connect = world.connect({ userRef: 'stalled place', email: 'stalled-place@example.test' })
  await until('the place', stalled.reached)
  await world.purge({ userRef: 'stalled place' })
  stalled.go()
  assert.is((await connect).failure?.code, 'flow_ended')
  await assertGone('stalled place')
})

deletion('a connect in back-off creates nothing after the purge', async () => {
  const heal = failing(CREATION as never)
  const connect = world.connect({ userRef: 'back-off', email: 'back-off@example.test' })
  await until('the crash', () =>
    Commands.exists({ kind: 'connect', 'args.userRef': 'back-off', crashes: trusted({ $gte: 1 }) }),
  )
  await world.purge({ userRef: 'back-off' })
  heal()
  assert.is((await connect).failure?.code, 'flow_ended')
  await assertGone('back-off')
})

deletion('a flow that began before the purge creates nothing, one that begins after it does', async () => {
  const email = 'generations@example.test'
  await connected(world, { userRef: 'generations', email })
  await world.purge({ userRef: 'generations' })
  const late = await world.connect({ userRef: 'generations', email, generation: 0 })
  assert.is(late.failure?.code, 'flow_ended')
  await assertGone('generations')
  const id = await connected(world, { userRef: 'generations', email })
  assert.equal(
    (await liveOf('generations')).map(({ _id }) => _id),
    [id],
  )
  assert.ok((await complete(id)).lastSyncAt)
})

deletion('of connects and purges sent at once none leaves anything in use that a purge had seen', async () => {
  for (let round = 0; round < 8; round++) {
    const userRef = `at once ${round}`
    const email = `at-once-${round}@example.test`
    await connected(world, { userRef, email })
    const generation = 0
    const [first, second] = await Promise.all([
      world.purge({ userRef }),
      world.purge({ userRef }),
      world.connect({ userRef, email, generation }),
    ])
    assert.ok(first && second)
    assert.ok(first.connectionsRevoked + second.connectionsRevoked >= 1)
    await assertGone(userRef)
  }
})

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

deletion('a browser profile that is stored late is not kept', async () => {
  const stalled = stallNext({ collection: 'browser_profiles', method: 'updateOne' })
  const connect = world.connect({ userRef: 'late profile', email: 'late-profile@example.test' })
  await until('the profile', stalled.reached)
  await world.purge({ userRef: 'late profile' })
  stalled.go()
  await connect
  await assertGone('late profile')
})

deletion('a deletion that is killed half-way is taken up, with the same counts and one event', async () => {
  const email = 'killed-purge@example.test'
  const id = await connected(world, { userRef: 'killed purge', email })
  const { archiveId = '' } = await complete(id)
  const stored = await Conversations.countDocuments({ archiveId })
  let left = 2
  const end = interceptWrites(async (write, proceed) => {
    if (write.collection !== 'conversations' || write.method !== 'deleteMany' || left === 0) return proceed()
    left -= 1
    await proceed()
    throw new Error('the process died')
  })
  const result = await world.purge({ userRef: 'killed purge' })
  end()
  assert.equal([result?.connectionsRevoked, result?.conversationsDeleted], [1, stored])
  await assertGone('killed purge')
  const told = () => world.receiver.named('data.deleted').filter(({ payload }) => payload['userRef'] === 'killed purge')
  await until('the event', () => told().length > 0)
  assert.is(told().length, 1)
  assert.is(told()[0]?.payload['conversationsDeleted'], stored)
})

deletion('a purge of what was purged answers zeros and tells nothing', async () => {
  await connected(world, { userRef: 'twice', email: 'twice@example.test' })
  await world.purge({ userRef: 'twice' })
  const again = await world.purge({ userRef: 'twice' })
  assert.equal([again?.connectionsRevoked, again?.conversationsDeleted], [0, 0])
})

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

deletion('flows and places that were written down only after the purge go with its sweeps', async () => {
  const { _id: userId } = await ensureUser({ appId: world.appId, userRef: 'late flows', now: new Date() })
  await world.purge({ userRef: 'late flows' })
  const flow = { appId: world.appId, userId, userRef: 'late flows', generation: 0, provider: 'sandbox-assistant' }
  const capture = { ...flow, secretDigest: 'x', createdAt: new Date(), expiresAt: new Date(), expireAt: DAY_AFTER }
  await Captures.create([
    { ...capture, _id: 'late' },
    { ...capture, _id: 'next', generation: 1 },
  ])
  const viewport = { width: 800, height: 600, deviceScaleFactor: 1, mobile: false }
  const lease = { ...flow, viewport, createdAt: new Date(), expiresAt: DAY_AFTER, fence: 0 }
  await Leases.create([
    { ...lease, _id: 'late', state: 'live' },
    { ...lease, _id: 'next', state: 'live', generation: 1 },
  ])
  // Of a process that stalled while it took its place, and was killed before it looked at the user's number.
  await PendingConnections.create({ _id: 'late', status: 'pending', userId, accountId: 'x', fence: 0 })
  const sweepNow = async () => {
    await Commands.updateMany({ kind: 'sweep', 'args.userId': userId }, { $set: { claimableAt: new Date(0) } })
    await until(
      'the sweeps',
      async () => !(await Commands.exists({ kind: 'sweep', 'args.userId': userId, state: 'waiting' })),
    )
  }
  await sweepNow()
  assert.equal(
    (await Captures.find({ userId }).lean()).map(({ _id }) => _id),
    ['next'],
  )
  assert.is(await PendingConnections.countDocuments({ userId }), 0)
  assert.is((await Leases.findById('next').lean())?.state, 'live')
  assert.is.not((await Leases.findById('late').lean())?.state, 'live')
  await world.purge({ userRef: 'late flows' })
  await sweepNow()
  assert.is(await Leases.countDocuments({ _id: 'late' }), 0)
})

deletion.run()
