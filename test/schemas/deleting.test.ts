import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newId } from '../../core/ids.ts'
import { BrowserProfiles, deleteBrowserProfile } from '../../schemas/connection/browser-profile.ts'
import {
  cancelReservation,
  PendingConnections,
  reserve,
  unsettleReservations,
} from '../../schemas/connection/reservation.ts'
import { takeOne } from '../../schemas/database.ts'
import { forgetMail, Mails } from '../../schemas/mail/mail.ts'
import { connectedTestDatabase } from '../support/database.ts'

/** Overlaps are a matter of luck: of so many some happen. */
const TRIES = 60

const deleting = suite('a delete that overlaps a change of the same document')
let database: Awaited<ReturnType<typeof connectedTestDatabase>>
deleting.before(async () => {
  database = await connectedTestDatabase()
})
deleting.after(() => database.stop())

deleting('a place that is given up is gone', async () => {
  for (let round = 0; round < TRIES; round++) {
    const [connectionId, accountId] = [newId(), newId()]
    await reserve({ connectionId, userId: 'user', accountId })
    await Promise.all([
      cancelReservation({ connectionId }),
      unsettleReservations({ accountId }),
      unsettleReservations({ accountId }),
    ])
  }
  assert.is(await PendingConnections.countDocuments({ userId: 'user' }), 0)
})

deleting('a browser profile that is deleted is gone', async () => {
  for (let round = 0; round < TRIES; round++) {
    const _id = newId()
    await BrowserProfiles.create({ _id, sealed: Buffer.from('sealed'), storedAt: new Date() })
    const change = () => BrowserProfiles.updateOne({ _id }, { $set: { storedAt: new Date() } })
    await Promise.all([deleteBrowserProfile({ connectionId: _id }), change(), change()])
  }
  assert.is(await BrowserProfiles.countDocuments({}), 0)
})

deleting('a mail that was sent is forgotten, and one of many takes a document', async () => {
  for (let round = 0; round < TRIES; round++) {
    const _id = newId()
    await Mails.collection.insertOne({ _id, fence: 1 } as never)
    const change = () => Mails.updateOne({ _id }, { $set: { claimableAt: new Date() } })
    await Promise.all([forgetMail({ _id, fence: 1 }), change(), change()])
  }
  assert.is(await Mails.countDocuments({}), 0)

  const _id = newId()
  await Mails.collection.insertOne({ _id, fence: 1 } as never)
  const taken = await Promise.all(Array.from({ length: 20 }, () => takeOne(Mails, { _id })))
  assert.is(taken.filter(Boolean).length, 1)
  assert.is(await takeOne(Mails, { _id }), null)
})

deleting.run()
