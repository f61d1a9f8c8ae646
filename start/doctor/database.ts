import { type Clock, SECOND } from '../../core/clock.ts'
import type { Keyring } from '../../core/envelope.ts'
import { connectDatabase, connectedDatabase } from '../../schemas/database.ts'
import { MODELS } from '../../schemas/models.ts'
import { type Finding, fine, reason, wrong } from './check.ts'
import { checkMasterKeys } from './master-keys.ts'

/** Claims hold for 15 s: clocks that differ by more than a part of that take each other's work. */
const CLOCK_DIFFERENCE_MS = 2 * SECOND
const WRITE_MS = 5 * SECOND

/** Whether the database answers, has its indexes, keeps what is written to most of its members, tells the same time, and opens with the master key. */
export async function checkDatabase({
  url,
  clock,
  keyring,
}: {
  url: string
  clock: Clock
  keyring: Keyring | undefined
}): Promise<Finding[]> {
  let connection: Awaited<ReturnType<typeof connectDatabase>>
  try {
    connection = await connectDatabase({ url })
  } catch (error) {
    const todo = 'check MONGODB_URL, that the server runs, and that this machine may reach it'
    return [wrong('database', `it does not answer (${reason(error)}); ${todo}`)]
  }
  try {
    const looks = [checkIndexes(), checkWrites(), checkClock(clock), checkMasterKeys(keyring)]
    const findings = await Promise.all(
      looks.map((look) => look.catch((error: unknown) => wrong('database', `it refuses a question: ${reason(error)}`))),
    )
    return [fine('database', 'it answers'), ...findings]
  } finally {
    await connection.close()
  }
}

async function checkIndexes(): Promise<Finding> {
  const present = new Set(
    (await connectedDatabase().listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name),
  )
  const missing: string[] = []
  for (const model of MODELS) {
    const { name } = model.collection
    if (!present.has(name)) continue
    const keys = new Set((await model.collection.indexes()).map(({ key }) => JSON.stringify(key)))
    for (const [fields] of model.schema.indexes()) {
      if (!keys.has(JSON.stringify(fields))) missing.push(`${name} ${JSON.stringify(fields)}`)
    }
  }
  if (missing.length > 0)
    return wrong('indexes', `missing: ${missing.join(', ')}; start any process of the service, which makes them`)
  return fine('indexes', present.size === 0 ? 'the database is empty; the first start makes them' : 'all are there')
}

async function checkWrites(): Promise<Finding> {
  const collection = connectedDatabase().collection<{ _id: string; at: Date }>('doctor')
  const writeConcern = { w: 'majority' as const, wtimeoutMS: WRITE_MS }
  try {
    await collection.updateOne({ _id: 'doctor' }, { $currentDate: { at: true } }, { upsert: true, writeConcern })
    await collection.drop({ writeConcern })
    return fine('write concern', 'writes are kept by most members')
  } catch (error) {
    const todo = 'check that most members of the replica set are up and that the user may write'
    return wrong('write concern', `a write was not kept by most members (${reason(error)}); ${todo}`)
  }
}

async function checkClock(clock: Clock): Promise<Finding> {
  const before = clock.now().getTime()
  const { localTime } = await connectedDatabase().admin().command({ hello: 1 })
  const after = clock.now().getTime()
  if (!(localTime instanceof Date)) return fine('clock', 'the database does not tell its time')
  const difference = Math.round(Math.abs(localTime.getTime() - (before + after) / 2))
  if (difference <= CLOCK_DIFFERENCE_MS) return fine('clock', `it differs from the database's by ${difference} ms`)
  return wrong('clock', `it differs from the database's by ${difference} ms; run NTP on both machines`)
}
