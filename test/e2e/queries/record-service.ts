import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Document, type IndexDescriptionInfo, MongoClient } from 'mongodb'
import { addApiKey } from '../../../schemas/app/app-keys.ts'
import { startFarmWorld } from '../../browser-farm/world.ts'
import { startReceiver } from '../../support/receiver.ts'
import { createAsker } from './asker.ts'
import { passThrough } from './pass.ts'
import { type Query, recordQueries } from './recorder.ts'
import { createVisits } from './visits.ts'

/** What the whole service asked its database for, and what its collections are like. */
export interface Recording {
  queries: Query[]
  collections: { name: string; templates: Document[]; indexes: IndexDescriptionInfo[] }[]
  /** Endpoints that nobody asked. */
  unasked: string[]
}

const APP_ID = 'shop'
const OPERATOR_KEY = 'operator-key-of-the-tests-0123456789'
/** Of each collection. */
const TEMPLATES = 20
/** The waits of a flow are long enough for a busy machine, those of retries and sweeps short enough for a test. */
const TIME_SCALE = '30'

/** Runs all of the service in this process and has it do everything that it does. */
export async function recordService(): Promise<Recording> {
  const url = new URL(process.env['TEST_DATABASE_URL'] ?? '')
  url.searchParams.set('monitorCommands', 'true')
  process.env['TEST_DATABASE_URL'] = url.href
  let status = 204
  const receiver = await startReceiver({ answer: () => status })
  const world = await startFarmWorld({ env: { TIME_SCALE, DATA_DIR: await mkdtemp(join(tmpdir(), 'ccs-queries-')) } })
  const client = new MongoClient(world.runtime.config.MONGODB_URL)
  try {
    const recorder = recordQueries()
    await world.farm()
    const added = await addApiKey({ appId: APP_ID, name: 'x', createdBy: 'test', now: new Date() })
    const apiKey = 'apiKey' in added ? added.apiKey : ''
    const keys = { apiKey, operatorKey: OPERATOR_KEY }
    const asker = createAsker({ baseUrl: world.baseUrl, keys, during: recorder.during })
    const visits = createVisits({ world, asker, database: client.db() })
    const answerWith = (next: number) => {
      status = next
    }
    const { during } = recorder
    await passThrough({ appId: APP_ID, world, asker, visits, receiver, answerWith, database: client.db(), during })
    const present = await client.db().listCollections({}, { nameOnly: true }).toArray()
    const collections = await Promise.all(
      present.map(async ({ name }) => {
        const collection = client.db().collection(name)
        const found = await collection.find().limit(TEMPLATES).toArray()
        return { name, templates: [...found, ...recorder.stored(name)], indexes: await collection.indexes() }
      }),
    )
    return { queries: recorder.queries(), collections, unasked: asker.unasked() }
  } finally {
    await client.close()
    await world.stop()
    await receiver.stop()
  }
}
