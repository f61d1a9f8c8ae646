import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { systemClock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { createLog } from '../../core/log.ts'
import { CLAIM_MS, claimIdle } from '../../schemas/claims.ts'
import { Accounts } from '../../schemas/connection/account.ts'
import { connectDatabase, trusted } from '../../schemas/database.ts'
import { createHeldClaims } from '../../schemas/held-claims.ts'
import { testDatabase } from '../support/database.ts'
import { startDatabaseProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'

/** More than are renewed in one go. */
const HELD = 300
const renewals = suite('silent renewals')
const database = await testDatabase()
const proxy = await startDatabaseProxy(database.url)
const connection = await connectDatabase({ url: proxy.url })
const clock = systemClock()
const held = createHeldClaims({ clock, log: createLog({ name: 'test', level: 'silent' }) })
renewals.after(async () => {
  await held.stop()
  await connection.close()
  await proxy.stop()
  await database.drop()
})

renewals('a connection that falls silent in a renewal loses no claim', async () => {
  const _id = newId()
  await Accounts.create({ _id, appId: 'x', provider: 'x', backfill: { done: false }, fence: 0 })
  const { heldFence: fence = 0 } = (await claimIdle(Accounts, { id: _id, now: clock.now() })) ?? {}
  const told: Error[] = []
  const silence = proxy.silenceAfter('update', 'accounts')
  const release = held.hold(Accounts, { _id, fence }, (reason) => told.push(reason))
  const claimableAt = async () => (await Accounts.findById(_id).lean())?.claimableAt?.getTime() ?? 0
  await until('the silence', () => silence.lost())
  // Done and never answered: the next one comes on another connection.
  const first = await until('the renewal that was not answered', claimableAt)
  await until('another renewal, or the loss of the claim', async () => told.length > 0 || (await claimableAt()) > first)
  assert.equal(told, [])
  release()
})

renewals('it delays the renewals that it carried, and no others; operators are told how many', async () => {
  const earlier = held.failedRenewals()
  const ids = Array.from({ length: HELD }, () => newId())
  const claimableAt = new Date(clock.now().getTime() + CLAIM_MS)
  const claim = { appId: 'x', provider: 'x', backfill: { done: false }, fence: 1, claimedBy: 'test', claimableAt }
  await Accounts.collection.insertMany(ids.map((_id) => ({ _id, ...claim })) as never[])
  const told: Error[] = []
  const silence = proxy.silenceAfter('update', 'accounts')
  const releases = ids.map((_id) => held.hold(Accounts, { _id, fence: 1 }, (reason) => told.push(reason)))
  await until('the silence', () => silence.lost())
  const failed = await until('those renewals to have failed', () => held.failedRenewals() - earlier)
  assert.ok(failed < HELD)
  const renewed = { claimableAt: trusted({ $gt: new Date(clock.now().getTime() + CLAIM_MS) }) }
  await until('all to be renewed once more', async () => (await Accounts.countDocuments(renewed)) === ids.length)
  assert.equal(told, [])
  for (const release of releases) release()
})

renewals.run()
