import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Commands } from '../../../schemas/command/command.ts'
import { Connections } from '../../../schemas/connection/connection.ts'
import { trusted } from '../../../schemas/database.ts'
import { type ActorWorld, startActorWorld } from '../../support/actors.ts'
import { claimsRunOut } from '../../support/claims-run-out.ts'
import { stallNext } from '../../support/stall.ts'
import { until } from '../../support/until.ts'
import { complete, connected, connectionOf } from '../sync/support.ts'
import { assertGone, CREATION, connectionsOf, failing, liveOf, says } from './support.ts'

const deletion = suite('a deletion wins over connects')
let world: ActorWorld
deletion.before(async () => {
  world = await startActorWorld({ timeScale: 60 })
})
deletion.after(() => world.stop())

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
  const heal = failing(CREATION)
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

deletion('a browser profile that is stored late is not kept', async () => {
  const stalled = stallNext({ collection: 'browser_profiles', method: 'updateOne' })
  const connect = world.connect({ userRef: 'late profile', email: 'late-profile@example.test' })
  await until('the profile', stalled.reached)
  await world.purge({ userRef: 'late profile' })
  stalled.go()
  await connect
  await assertGone('late profile')
})

deletion.run()
