import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createWorkLimits } from '../../actors/work-limits.ts'
import { newId } from '../../core/ids.ts'
import { type Command, Commands, userTarget } from '../../schemas/command/command.ts'
import { writeCommand } from '../../schemas/command/commands.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { ensureUser } from '../../schemas/user/user.ts'
import { type ActorWorld, startActorWorld } from '../support/actors.ts'
import { until } from '../support/until.ts'
import { interceptWrites } from '../support/writes.ts'
import { beginIngest, complete, connected, syncAgain } from './sync/support.ts'

const limits = suite('limits for each kind of work')
let world: ActorWorld
limits.before(async () => {
  world = await startActorWorld({ timeScale: 10, syncsAtOnce: 1 })
})
limits.after(() => world.stop())

const DAY = 86_400_000

/** As a holder in another process does that does not end. */
const holdElsewhere = (id: string) =>
  Connections.updateOne(
    { _id: id },
    { $set: { claimedBy: newId(), claimableAt: new Date(Date.now() + DAY) }, $inc: { fence: 1 } },
  )
const letGo = (id: string) =>
  Connections.updateOne({ _id: id }, { $set: { claimableAt: new Date(0) }, $unset: { claimedBy: 1 } })
const commandOf = async (id: string): Promise<Command> => {
  const command = await Commands.findById(id).lean<Command>()
  if (!command) throw new Error('no such command')
  return command
}
const claimedCommand = (id: string): Promise<Command> =>
  until('the claim', async () => {
    const command = await commandOf(id)
    return command.claimedBy ? command : null
  })

limits('a kind has its own and no other', () => {
  const { free, take } = createWorkLimits({ one: 1, two: 2 })
  const leave = take('one', 'app')
  assert.equal([free('one'), free('two')], [0, 2])
  leave()
  assert.is(free('one'), 1)
})

limits('an app has as many places as are left besides, so that the next one finds room', () => {
  const { free, room, crowding, take } = createWorkLimits({ kind: 8 })
  assert.is(room('kind'), 4)
  const leave = Array.from({ length: 4 }, () => take('kind', 'many'))
  assert.equal(crowding('kind'), ['many'])
  assert.is(room('kind'), 2)
  take('kind', 'few')
  assert.equal([free('kind'), crowding('kind')], [3, ['many']])
  leave[0]?.()
  assert.equal(crowding('kind'), [])
  assert.is(room('kind'), 1, 'for the first app, which had three')
})

limits('while one app has purges without end, another app’s is carried out', async () => {
  await world.makeApp('app-calm')
  const now = world.runtime.clock.now()
  const busyUser = await ensureUser({ appId: world.appId, userRef: 'of the busy app', now })
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const end = interceptWrites(async ({ collection, args }, proceed) => {
    if (collection === 'users' && JSON.stringify(args).includes(busyUser._id)) await gate
    return proceed()
  })
  const ids = await Promise.all(
    Array.from({ length: 120 }, () =>
      writeCommand({
        kind: 'purge',
        appId: world.appId,
        target: userTarget(busyUser._id),
        by: { kind: 'api-key', id: 'test' },
        args: { userId: busyUser._id, userRef: busyUser.userRef },
        now,
      }),
    ),
  )
  await until(
    'as many as it may have',
    async () => (await Commands.countDocuments({ kind: 'purge', claimedBy: trusted({ $exists: true }) })) >= 25,
  )
  assert.ok(await world.purge({ userRef: 'of the calm app', appId: 'app-calm' }))
  assert.is(await Commands.countDocuments({ _id: trusted({ $in: ids }), state: 'done' }), 0)
  open()
  end()
  await until(
    'the others',
    async () => (await Commands.countDocuments({ _id: trusted({ $in: ids }), state: 'waiting' })) === 0,
  )
})

limits('what waits in a mailbox stays claimed, and takes no place of a sync', async () => {
  const busy = await connected(world, { userRef: 'busy', email: 'busy@example.test' })
  await complete(busy)
  await holdElsewhere(busy)
  const first = await beginIngest(world, { connectionId: busy, conversations: [] })
  await claimedCommand(first)
  const second = await beginIngest(world, { connectionId: busy, conversations: [] })
  const waiting = await claimedCommand(second)
  const { claimableAt } = waiting
  const renewed = await until('its renewal', async () => {
    const now = await commandOf(second)
    return now.claimableAt && claimableAt && now.claimableAt > claimableAt ? now : null
  })
  assert.is(renewed.fence, waiting.fence, 'nobody has claimed it again')

  const other = await connected(world, { userRef: 'other', email: 'other@example.test' })
  await complete(other)
  assert.is((await commandOf(first)).state, 'waiting', 'the ingestions wait all the while')
  await letGo(busy)
  for (const id of [first, second])
    await until('its end', async () => ((await commandOf(id)).state !== 'waiting' ? true : null))
  assert.is((await commandOf(second)).fence, waiting.fence)
})

limits('a first sync goes before all others once, however it ends', async () => {
  const account = 'unlucky@example.test'
  const id = await connected(world, { userRef: 'unlucky', email: account })
  assert.is((await complete(id)).awaitsFirstSync, undefined)
  await Connections.updateOne({ _id: id }, { $set: { awaitsFirstSync: true }, $unset: { lastSyncAt: 1 } })
  await world.site.control({
    action: 'fail',
    account,
    mode: 'status',
    status: 502,
    count: 4,
    path: '/api/auth/session',
  })
  const failed = await syncAgain(id)
  assert.match(failed.sync.outcome ?? '', /^unavailable/)
  assert.is(failed.lastSyncAt, undefined)
  assert.is(failed.awaitsFirstSync, undefined)
})

limits.run()
