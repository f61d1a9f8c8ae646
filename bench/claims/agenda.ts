import { MongoBackend } from '@agendajs/mongo-backend'
import { MongoClient } from 'mongodb'
import { testDatabase } from '../../test/support/database.ts'
import { median, timed } from '../row.ts'

const BATCH = 5_000
const LOOKS = 10
const AT_ONCE = 10
const HOUR_MS = 3_600_000
const JOB = 'deliver'

/** Milliseconds (median) that the `agenda` package takes to claim ten due jobs beside so many that are due in an hour. */
export async function agendaClaims({ waiting }: { waiting: number }): Promise<number> {
  const database = await testDatabase()
  const client = await MongoClient.connect(database.url, { writeConcern: { w: 'majority' } })
  try {
    const backend = new MongoBackend({ mongo: client.db() })
    await backend.connect()
    const jobs = client.db().collection('agendaJobs')
    const put = (count: number, nextRunAt: Date) =>
      jobs.insertMany(
        Array.from({ length: count }, () => ({
          name: JOB,
          type: 'normal',
          priority: 0,
          nextRunAt,
          lockedAt: null,
          data: { body: '{"event":"test.event","payload":{"userRef":"user-1","message":"hello"}}' },
        })),
        { ordered: false },
      )
    for (let made = 0; made < waiting; made += BATCH) await put(BATCH, new Date(Date.now() + HOUR_MS + made))
    const times: number[] = []
    for (let look = 0; look < LOOKS; look++) {
      const now = new Date()
      await put(AT_ONCE, now)
      times.push(
        await timed(async () => {
          const claim = () =>
            backend.repository.getNextJobToRun(JOB, now, new Date(now.getTime() - HOUR_MS), now, undefined)
          const claimed = await Promise.all(Array.from({ length: AT_ONCE }, claim))
          if (claimed.some((job) => !job)) throw new Error('agenda found less than was due')
        }),
      )
    }
    return median(times)
  } finally {
    await client.close()
    await database.drop()
  }
}
