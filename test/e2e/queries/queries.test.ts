import { MongoClient } from 'mongodb'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { connectedTestDatabase } from '../../support/database.ts'
import { until } from '../../support/until.ts'
import { readsThrough } from './explain.ts'
import { DOCUMENTS, fill } from './fill.ts'
import { type Recording, recordService } from './record-service.ts'
import { type Query, shapeOf } from './recorder.ts'

const queries = suite('queries')

/** Collections that are small by design: reading one through costs nothing. */
const SMALL: Readonly<Record<string, string>> = {
  actor_snapshots: 'one for each actors process, for a minute',
  apps: 'one document for each partner',
  delivery_lanes: 'one for each partner',
  looking: 'one',
  memberships: 'one for each partner',
  operator_keys: 'one for each operator',
  service_keys: 'one for each purpose',
  processes: 'one for each process that was alive within the last hour',
  wakeups: 'one',
}

let recording: Recording
let client: MongoClient
let stop: () => Promise<void>
queries.before(async () => {
  recording = await recordService()
  const database = await connectedTestDatabase()
  client = new MongoClient(database.url)
  stop = async () => {
    await client.close()
    await database.stop()
  }
  for (const { name, templates, indexes } of recording.collections) {
    if (name in SMALL || templates.length === 0) continue
    for (const { key, ...options } of indexes) await client.db().collection(name).createIndex(key, options)
    await fill(client.db(), { name, templates })
  }
})
queries.after(() => stop?.())

queries('every endpoint was asked', () => {
  assert.equal(recording.unasked, [])
})

queries(`each query of the service finds what it looks for by an index among ${DOCUMENTS} others`, async () => {
  const known = new Set(recording.collections.filter(({ templates }) => templates.length > 0).map(({ name }) => name))
  const looked = recording.queries.filter(({ collection }) => !(collection in SMALL))
  const unknown = looked.filter(({ collection }) => !known.has(collection))
  let wrong = looked.filter(({ collection }) => known.has(collection))
  // FerretDB sorts by an index from the moment on that PostgreSQL has vacuumed the table.
  await until(
    'a plan for each',
    async () => {
      const plans = await Promise.all(wrong.map((query) => readsThrough(client.db(), query)))
      wrong = wrong.filter((_, index) => plans[index])
      return wrong.length === 0
    },
    { everyMs: 1_000, giveUpMs: 60_000 },
  ).catch(() => undefined)
  const told = (query: Query): string => `${shapeOf(query)}, during ${query.during}`
  assert.equal(unknown.map(told), [], 'nothing was ever stored there')
  assert.equal(wrong.map(told), [], 'read through')
})

queries('what has no index is told', async () => {
  const query = { collection: 'connections', filter: { userRef: 'ada' }, during: 'this test' }
  assert.ok(await readsThrough(client.db(), query))
})

queries.run()
