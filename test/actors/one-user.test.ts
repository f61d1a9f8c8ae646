import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { connect } from '../../actors/commands/connect.ts'
import { type Command, Commands } from '../../schemas/command/command.ts'
import { Accounts } from '../../schemas/connection/account.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { type ActorWorld, startActorWorld } from '../support/actors.ts'
import { claimsRunOut } from '../support/claims-run-out.ts'
import { stallNext } from '../support/stall.ts'
import { until } from '../support/until.ts'

const oneUser = suite('one account, one user')
let world: ActorWorld
oneUser.before(async () => {
  world = await startActorWorld()
})
oneUser.after(() => world.stop())

/** The write that makes a connection of its place. */
const CREATION = {
  collection: 'connections',
  method: 'updateOne',
  holds: ([, update]: unknown[]) => JSON.stringify(update).includes('"active"'),
} as const

const connectionsOf = (...userRefs: string[]) =>
  Connections.find({ userRef: trusted({ $in: userRefs }) }).lean<Connection[]>()

/** Exactly one of them is in use, and the account's archive is its own. */
async function assertOneIsActive(...userRefs: string[]): Promise<Connection> {
  const active = (await connectionsOf(...userRefs)).filter(({ status }) => status === 'active')
  assert.is(active.length, 1)
  const [connection] = active as [Connection]
  assert.is((await Accounts.findById(connection.accountId).lean())?.archiveId, connection.archiveId)
  return connection
}

oneUser('a connect that stalls while it creates its connection keeps the account from another user', async () => {
  const email = 'stalls@example.test'
  const stalled = stallNext(CREATION)
  const first = world.connect({ userRef: 'stalls', email })
  await until('the write that stalls', stalled.reached)
  await claimsRunOut()
  const second = await world.connect({ userRef: 'rival', email })
  stalled.go()
  assert.is(second.failure?.code, 'account_held')
  assert.is((await first).state, 'done')
  assert.is((await assertOneIsActive('stalls', 'rival')).userRef, 'stalls')
})

oneUser('one that stalls before it has the account for sure finds that another user has it', async () => {
  const email = 'late@example.test'
  const stalled = stallNext({
    collection: 'accounts',
    method: 'updateOne',
    holds: ([, update]) => JSON.stringify(update).includes('connecting'),
  })
  const first = world.connect({ userRef: 'late', email })
  await until('the write that stalls', stalled.reached)
  await claimsRunOut()
  const second = await world.connect({ userRef: 'in time', email })
  stalled.go()
  assert.is(second.state, 'done')
  assert.is((await first).failure?.code, 'account_held')
  assert.is((await assertOneIsActive('late', 'in time')).userRef, 'in time')
})

oneUser('a reconnect waits for one of the same user that stalls, and folds it', async () => {
  const email = 'same@example.test'
  const stalled = stallNext(CREATION)
  const first = world.connect({ userRef: 'same', email })
  await until('the write that stalls', stalled.reached)
  await claimsRunOut()
  const second = world.connect({ userRef: 'same', email })
  await until('the second one to have been tried', () =>
    Commands.findOne({
      kind: 'connect',
      'args.userRef': 'same',
      $or: [{ state: 'done' }, { fence: trusted({ $gt: 1 }) }],
    }).lean(),
  )
  stalled.go()
  const [{ result: old }, { result }] = await Promise.all([first, second])
  const active = await assertOneIsActive('same')
  assert.is(active._id, result?.connectionId)
  assert.equal(active.replaces, [old?.connectionId])
})

oneUser(
  'a connect that is taken up while its first actor stalls ends with one connection and its archive',
  async () => {
    const email = 'taken-up@example.test'
    const stalled = stallNext(CREATION)
    const first = world.connect({ userRef: 'taken up', email })
    await until('the write that stalls', stalled.reached)
    await claimsRunOut()
    const command = await Commands.findOne({ kind: 'connect', 'args.userRef': 'taken up' }).lean<Command<'connect'>>()
    if (!command) throw new Error('no command')
    const again = stallNext(CREATION)
    const second = connect({ command, runtime: world.runtime, signal: new AbortController().signal })
    await until('the second write', again.reached)
    stalled.go()
    again.go()
    // Whoever took the connection's place last makes it.
    await second
    assert.is((await first).state, 'done')
    await assertOneIsActive('taken up')
  },
)

oneUser('a connect that failed in the end holds the account no longer', async () => {
  const email = 'given-up@example.test'
  const { result } = await world.connect({ userRef: 'leaves', email })
  const failed = await world.connect({ userRef: 'gives up', email })
  const connectionId = result?.connectionId ?? ''
  await world.purge({ userRef: 'leaves', connectionId })
  const { accountId } = (await connectionsOf('leaves'))[0] as Connection
  const connecting = { commandId: failed._id, userId: failed.args.userId }
  await Accounts.updateOne({ _id: accountId }, { $set: { connecting } })
  assert.is((await world.connect({ userRef: 'next', email })).state, 'done')
  await assertOneIsActive('leaves', 'gives up', 'next')
})

oneUser('an account whose session has ended is still its user’s', async () => {
  const email = 'idle@example.test'
  const { result } = await world.connect({ userRef: 'idle', email })
  await world.site.control({ action: 'end-sessions', account: email })
  await until('a sync that notices', async () => {
    await Connections.updateOne(
      { _id: result?.connectionId ?? '', claimedBy: trusted({ $exists: false }), status: 'active' },
      { $set: { claimableAt: new Date(0) } },
    )
    return Connections.exists({ _id: result?.connectionId ?? '', status: 'needs_reauth' })
  })
  assert.is((await world.connect({ userRef: 'taker', email })).failure?.code, 'account_held')
  const back = await world.connect({ userRef: 'idle', email })
  assert.is(back.state, 'done')
})

oneUser.run()
