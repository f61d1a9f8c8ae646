import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Conversations } from '../../../schemas/archive/conversation.ts'
import { Commands } from '../../../schemas/command/command.ts'
import { PendingConnections } from '../../../schemas/connection/reservation.ts'
import { Leases } from '../../../schemas/lease/lease.ts'
import { Captures } from '../../../schemas/user/capture.ts'
import { ensureUser } from '../../../schemas/user/user.ts'
import { type ActorWorld, startActorWorld } from '../../support/actors.ts'
import { until } from '../../support/until.ts'
import { interceptWrites } from '../../support/writes.ts'
import { complete, connected } from '../sync/support.ts'
import { assertGone } from './support.ts'

const DAY_AFTER = new Date(Date.now() + 86_400_000)

const deletion = suite('a purge leaves nothing, whatever ends it')
let world: ActorWorld
deletion.before(async () => {
  world = await startActorWorld({ timeScale: 60 })
})
deletion.after(() => world.stop())

const deletions = () => world.receiver.named('data.deleted')

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
  const told = () => deletions().filter(({ payload }) => payload['userRef'] === 'killed purge')
  await until('the event', () => told().length > 0)
  assert.is(told().length, 1)
  assert.is(told()[0]?.payload['conversationsDeleted'], stored)
})

deletion('a purge of what was purged answers zeros and tells nothing', async () => {
  await connected(world, { userRef: 'twice', email: 'twice@example.test' })
  await world.purge({ userRef: 'twice' })
  const again = await world.purge({ userRef: 'twice' })
  assert.equal([again?.connectionsRevoked, again?.conversationsDeleted], [0, 0])
  // Told after whatever the second purge had told.
  await connected(world, { userRef: 'after twice', email: 'after-twice@example.test' })
  await world.purge({ userRef: 'after twice' })
  const told = (userRef: string) => deletions().filter(({ payload }) => payload['userRef'] === userRef)
  await until('the next event', () => told('after twice').length > 0)
  assert.is(told('twice').length, 1)
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
