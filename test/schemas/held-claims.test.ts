import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { systemClock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { createLog } from '../../core/log.ts'
import { CLAIM_MS, claimIdle, requestYield } from '../../schemas/claims.ts'
import { Accounts } from '../../schemas/connection/account.ts'
import { connectDatabase } from '../../schemas/database.ts'
import { ClaimLost, createHeldClaims, YieldRequested } from '../../schemas/held-claims.ts'
import { testDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const claims = suite('held claims')
/** How far the machine's time is ahead of the test's, so that a claim can run out at once. */
let ahead = 0
const real = systemClock()
const clock = {
  ...real,
  now: () => new Date(Date.now() + ahead),
  timer: (_: number, fn: () => void) => real.timer(1, fn),
}
const held = createHeldClaims({ clock, log: createLog({ name: 'test', level: 'silent' }) })
const database = await testDatabase()
const connection = await connectDatabase({ url: database.url })
claims.after(async () => {
  await held.stop()
  await connection.close()
  await database.drop()
})

/** Something that is claimed and held, and what its holder was told. */
async function hold() {
  const _id = newId()
  await Accounts.create({ _id, appId: 'x', provider: 'x', backfill: { done: false }, fence: 0 })
  const { heldFence: fence = 0 } = (await claimIdle(Accounts, { id: _id, now: clock.now() })) ?? {}
  const told: Error[] = []
  const release = held.hold(Accounts, { _id, fence }, (reason) => told.push(reason))
  const claimableAt = async () => (await Accounts.findById(_id).lean())?.claimableAt ?? new Date(0)
  return { _id, told, release, claimableAt }
}

claims('what is held stays claimed for longer than one claim lasts', async () => {
  const { _id, told, release, claimableAt } = await hold()
  const first = await claimableAt()
  ahead += CLAIM_MS / 2
  await until('a renewal', async () => (await claimableAt()) > first)
  ahead += (3 * CLAIM_MS) / 4
  await until('another one', async () => (await claimableAt()).getTime() > clock.now().getTime() + CLAIM_MS / 2)
  assert.is(await claimIdle(Accounts, { id: _id, now: clock.now() }), null, 'nobody else gets it')
  assert.equal(told, [])
  release()
})

claims('what was let go is renewed no longer, and another gets it', async () => {
  const { _id, told, release, claimableAt } = await hold()
  const other = await hold()
  release()
  ahead += 2 * CLAIM_MS
  await until('what is still held to be renewed', async () => (await other.claimableAt()) > clock.now())
  assert.ok((await claimableAt()) < clock.now())
  assert.ok(await claimIdle(Accounts, { id: _id, now: clock.now() }))
  assert.equal(told, [])
  other.release()
})

claims('a holder hears that its claim was taken, and that another waits for it', async () => {
  const taken = await hold()
  const wanted = await hold()
  await Accounts.updateOne({ _id: taken._id }, { $inc: { fence: 1 } })
  await requestYield(Accounts, { id: wanted._id, now: clock.now() })
  await until('both to be told', () => taken.told.length > 0 && wanted.told.length > 0)
  assert.ok(taken.told[0] instanceof ClaimLost)
  assert.ok(wanted.told[0] instanceof YieldRequested)
  const before = await wanted.claimableAt()
  ahead += CLAIM_MS / 2
  await until('it to stay held until it ends', async () => (await wanted.claimableAt()) > before)
  wanted.release()
})

claims.run()
