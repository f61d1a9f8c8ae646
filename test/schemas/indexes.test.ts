import mongoose from 'mongoose'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HOUR } from '../../core/clock.ts'
import { deleteExportUploadsOf, deleteStrayUploads } from '../../schemas/archive/export-upload.ts'
import { claimMany, firstDue } from '../../schemas/claims.ts'
import { Commands } from '../../schemas/command/command.ts'
import { Accounts } from '../../schemas/connection/account.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { connectDatabase, dueBy } from '../../schemas/database.ts'
import { DeliveryLanes, dueLanes, firstDueLane } from '../../schemas/delivery/delivery-lane.ts'
import { createIndexes } from '../../schemas/indexes.ts'
import { Leases } from '../../schemas/lease/lease.ts'
import { ConsumedLinks } from '../../schemas/user/consumed-link.ts'
import { ensureUser, Users } from '../../schemas/user/user.ts'
import { testDatabase } from '../support/database.ts'

const indexes = suite('indexes')
/** Enough that no planner takes reading through for the quicker way. */
const DOCUMENTS = 50_000
const BATCH = 10_000

const database = await testDatabase()
const connection = await connectDatabase({ url: database.url })
await createIndexes()
const watched = new mongoose.mongo.MongoClient(database.url)
indexes.after(async () => {
  await watched.close()
  await connection.close()
  await database.drop()
})

const later = new Date(Date.now() + 24 * HOUR)
/** What sleeps in every collection that is looked at for due work. */
const sleeping = (index: number) => ({
  _id: `id-${index}`,
  appId: `app-${index % 50}`,
  userId: `user-${index}`,
  userRef: `ref-${index}`,
  status: 'active',
  state: 'waiting',
  claimableAt: later,
  outboxAt: later,
  dueAt: later,
  fence: 0,
})

/** The filters that are sent while `work` runs, by collection, as the driver's collection is asked for them. */
async function filtersOf(work: () => Promise<unknown>): Promise<{ collection: string; filter: object }[]> {
  const filters: { collection: string; filter: object }[] = []
  mongoose.set('debug', (collection: string, _method: string, filter: object) => {
    filters.push({ collection, filter })
  })
  await work().finally(() => mongoose.set('debug', false))
  return filters
}

/** Whether a plan reads a collection through: mongod says so, FerretDB shows PostgreSQL's plan, where all of a collection has one shard key. */
function readsThrough(plan: unknown): boolean {
  if (typeof plan !== 'object' || plan === null) return false
  const node = plan as Record<string, unknown>
  if (node['stage'] === 'COLLSCAN' || node['Node Type'] === 'Seq Scan') return true
  const condition = node['Index Cond']
  if (typeof condition === 'string' && /^\(shard_key_value = '\d+'::bigint\)$/.test(condition)) return true
  return Object.values(node).some(readsThrough)
}

async function isIndexed(collection: string, filter: object): Promise<boolean> {
  return !readsThrough(await watched.db().collection(collection).find(filter).explain('queryPlanner'))
}

indexes.before(async () => {
  for (const model of [Connections, Commands, Accounts, Leases, ConsumedLinks, DeliveryLanes, Users]) {
    for (let from = 0; from < DOCUMENTS; from += BATCH)
      await model.collection.insertMany(Array.from({ length: BATCH }, (_, index) => sleeping(from + index)) as never[])
  }
})

const now = new Date()
const QUERIES: Record<string, () => Promise<unknown>> = {
  'due commands': () => claimMany(Commands, { now, limit: 10 }),
  'due connections': () => claimMany(Connections, { now, limit: 10 }),
  'due leases': () => claimMany(Leases, { now, limit: 10 }),
  'the first command that is due': () => firstDue(Commands, { now }),
  'the first connection that is due': () => firstDue(Connections, { now }),
  'accounts that are held': () => Accounts.find({ claimableAt: dueBy(now) }),
  'outboxes of connections': () => Connections.find({ outboxAt: dueBy(now) }),
  'outboxes of commands': () => Commands.find({ outboxAt: dueBy(now) }),
  'outboxes of links': () => ConsumedLinks.find({ outboxAt: dueBy(now) }),
  'due lanes': () => dueLanes({ now, except: ['app-1'], limit: 10 }),
  'the first lane that is due': () => firstDueLane({ now }),
  'a user': () => ensureUser({ appId: 'app-1', userRef: 'ref-1', now }),
  'connections of a user': () => Connections.find({ userId: 'user-7' }),
}

for (const [name, query] of Object.entries(QUERIES))
  indexes(`${name}: found by an index among ${DOCUMENTS} others`, async () => {
    const filters = await filtersOf(async () => query())
    assert.ok(filters.length > 0)
    for (const { collection, filter } of filters)
      assert.ok(await isIndexed(collection, filter), `${collection} ${JSON.stringify(filter)}`)
  })

indexes('what has no index is told', async () => {
  assert.not(await isIndexed('connections', { userRef: 'ref-7' }))
  assert.not(await isIndexed('users', { createdAt: now }))
})

indexes('uploads are swept', async () => {
  await deleteExportUploadsOf({ connectionId: 'none' })
  assert.is(await deleteStrayUploads({ before: now }), 0)
})

indexes.run()
