import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isDuplicate } from '../../schemas/database.ts'
import { ensureUser, Users } from '../../schemas/user/user.ts'
import { connectedTestDatabase } from '../support/database.ts'

const duplicates = suite('duplicates')
const database = await connectedTestDatabase()
duplicates.after(database.stop)

const USERS = 100
const CALLS_EACH = 16

duplicates('parallel first calls for one user answer one user, and no error', async () => {
  for (let user = 0; user < USERS; user++) {
    const userRef = `user-${user}`
    const ensure = () => ensureUser({ appId: 'app-one', userRef, now: new Date() })
    const found = await Promise.all(Array.from({ length: CALLS_EACH }, ensure))
    assert.is(new Set(found.map(({ _id }) => _id)).size, 1, userRef)
  }
  assert.is(await Users.countDocuments({ appId: 'app-one' }), USERS)
})

duplicates('a user from before keeps its id', async () => {
  await Users.create({ _id: 'an-earlier-id', appId: 'app-one', userRef: 'earlier', createdAt: new Date() })
  const { _id } = await ensureUser({ appId: 'app-one', userRef: 'earlier', now: new Date() })
  assert.is(_id, 'an-earlier-id')
})

const user = (_id: string, userRef: string) => ({ _id, appId: 'app-two', userRef, createdAt: new Date() })
const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => assert.unreachable('it was written'),
    (error: unknown) => error,
  )

duplicates('every way to violate a unique index is told from other errors', async () => {
  await Users.create(user('one', 'same'))
  const other = user('two', 'same')
  const update = { updateOne: { filter: { _id: 'two' }, update: { $setOnInsert: other }, upsert: true } }
  const errors = await Promise.all([
    errorOf(Users.create(user('one', 'another'))),
    errorOf(Users.create(other)),
    errorOf(Users.collection.insertMany([other] as never[], { ordered: false })),
    errorOf(Users.findOneAndUpdate({ _id: 'two' }, { $setOnInsert: other }, { upsert: true })),
    errorOf(Users.updateOne({ _id: 'two' }, { $setOnInsert: other }, { upsert: true })),
    errorOf(Users.bulkWrite([update], { ordered: false })),
    // The filter finds nothing, and its id is taken: FerretDB says so in PostgreSQL's words.
    errorOf(Users.findOneAndUpdate({ _id: 'one', appId: 'none' }, { $set: { userRef: 'x' } }, { upsert: true })),
  ])
  for (const error of errors) assert.ok(isDuplicate(error), String(error))
  for (const error of errors)
    for (const each of (error as { writeErrors?: unknown[] }).writeErrors ?? []) assert.ok(isDuplicate(each))
  const unknown = await errorOf(Users.collection.updateOne({ _id: 'one' } as never, { $unknown: {} }))
  for (const error of [unknown, new Error('no'), null, undefined, 'text']) assert.not(isDuplicate(error))
})

duplicates('an upsert that loses a race on another unique index says so', async () => {
  const LOSERS = 3
  for (let round = 0; round < 3; round++) {
    const upsert = (_: unknown, index: number) =>
      Users.findOneAndUpdate(
        { appId: 'app-three', userRef: `${round}` },
        { $setOnInsert: { _id: `${round}-${index}`, createdAt: new Date() } },
        { upsert: true },
      ).then(
        () => null,
        (error: unknown) => error,
      )
    const errors = await Promise.all(Array.from({ length: LOSERS }, upsert))
    for (const error of errors)
      if (error && !String(error).includes('deadlock')) assert.ok(isDuplicate(error), String(error))
  }
})

duplicates.run()
