import { setTimeout as sleep } from 'node:timers/promises'
import { MongoClient } from 'mongodb'
import { newId } from '../core/ids.ts'
import { testDatabase } from '../test/support/database.ts'
import { OPERATOR_KEY, startHttpWorld } from '../test/support/http.ts'
import { startHttpProcess } from '../test/support/http-process.ts'
import { seedConnection } from '../test/support/seed.ts'
import { compareTimes } from './api/compare.ts'
import { startActorsProcess } from './scale/actors-process.ts'
import { answered } from './support/answered.ts'

/**
 * What operators and partners wait for beside 100,000 connections of others, against the same beside ten: each service has processes and a
 * database of its own, which hold the same otherwise.
 */
const FEW = 10
const MANY = 100_000
const BATCH = 5_000
const USER = 'purged'
/** A dashboard asks about once a second. */
const REFRESH_MS = 1_100

const world = await startHttpWorld()
const { appId, apiKey } = world.one
await seedConnection({ appId, userRef: USER })
const template = await seedConnection({ appId, userRef: 'other' })

/** A copy of that database with so many connections more, due far from now, and the processes of a service on it. */
async function startCopy(connections: number) {
  const database = await testDatabase()
  const [from, to] = [
    await MongoClient.connect(world.env['MONGODB_URL'] ?? ''),
    await MongoClient.connect(database.url),
  ]
  const env = { ...world.env, MONGODB_URL: database.url }
  const first = await startHttpProcess(env)
  await first.stop()
  for (const name of ['apps', 'users', 'connections']) {
    const documents = await from.db().collection(name).find().toArray()
    await to.db().collection(name).insertMany(documents)
  }
  const later = Date.now() + 7 * 86_400_000
  for (let made = 0; made < connections; made += BATCH)
    await to
      .db()
      .collection('connections')
      .insertMany(
        Array.from({ length: Math.min(BATCH, connections - made) }, (_, index) => {
          const _id = newId()
          const own = { _id, userId: newId(), userRef: _id, accountId: newId(), archiveId: newId() }
          return { ...template, ...own, claimableAt: new Date(later + made + index) } as never
        }),
        { ordered: false },
      )
  await Promise.all([from.close(), to.close()])
  const http = await startHttpProcess(env)
  const actors = await startActorsProcess(env)
  return {
    env,
    http,
    stop: async () => {
      await http.stop()
      await actors.stop()
      await database.drop()
    },
  }
}

const few = await startCopy(FEW)
const many = await startCopy(MANY)
const overview = (url: string) =>
  answered(`${url}/ops/overview`, { headers: { authorization: `Bearer ${OPERATOR_KEY}` } })
const firstLook = ({ env }: { env: Record<string, string> }) => {
  let process: Awaited<ReturnType<typeof startHttpProcess>> | undefined
  return {
    start: async () => {
      await process?.stop()
      process = await startHttpProcess(env)
    },
    look: () => overview(process?.url ?? ''),
    stop: async () => {
      await process?.stop()
    },
  }
}
const purgeAgain = ({ http }: typeof few) =>
  answered(`${http.url}/api/purge`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ appId, userRef: USER }),
  })
const beside = `beside ${MANY} connections, against ${FEW}`
await compareTimes({
  what: `/ops/overview once a second, ${beside}`,
  ours: () => overview(many.http.url),
  floor: () => overview(few.http.url),
  before: () => sleep(REFRESH_MS),
  goal: 1.5,
  rounds: 9,
})
const looks = { few: firstLook(few), many: firstLook(many) }
await compareTimes({
  what: `the first /ops/overview of a process, ${beside}`,
  ours: looks.many.look,
  floor: looks.few.look,
  before: async () => {
    await looks.few.start()
    await looks.many.start()
  },
  goal: 1.5,
  rounds: 5,
})
await compareTimes({
  what: `purge again of a purged user, ${beside}`,
  ours: () => purgeAgain(many),
  floor: () => purgeAgain(few),
  goal: 1.5,
})
for (const each of [looks.few, looks.many, few, many]) await each.stop()
await world.stop()
