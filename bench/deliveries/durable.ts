import { newId } from '../../core/ids.ts'
import { signAndPost } from './bare.ts'
import { onOwnDatabase, type Task } from './own-database.ts'

interface Job {
  _id: string
  body: string
  /** Absent where it has ended. */
  dueAt?: Date
}

/** After so long (ms) another process would take up what this one has begun. */
const CLAIM_MS = 15_000
/** Two lots are posted while others are read or noted. */
const LOTS_AT_ONCE = 4

/**
 * The least that a sender does whose jobs outlive it: reads a lot of them, notes that their attempt begins, posts them, and notes how it
 * ended, with one statement each for the whole lot. Returns jobs per second.
 */
export const durableLoop = ({ url, bodies, atOnce }: Task): Promise<number> =>
  onOwnDatabase(async ({ db, agent }) => {
    const jobs = db.collection<Job>('jobs')
    const limit = atOnce / 2
    await jobs.createIndex({ dueAt: 1 }, { partialFilterExpression: { dueAt: { $exists: true } } })
    await jobs.insertMany(bodies.map((body) => ({ _id: newId(), body, dueAt: new Date() })))
    const began = performance.now()
    const take = async (): Promise<Job[]> => {
      const now = new Date()
      const lot = await jobs
        .find({ dueAt: { $exists: true, $lte: now } })
        .limit(limit)
        .batchSize(limit + 1)
        .toArray()
      if (lot.length === 0) return lot
      const dueAt = new Date(now.getTime() + CLAIM_MS)
      await jobs.updateMany({ _id: { $in: lot.map(({ _id }) => _id) } }, { $set: { dueAt }, $inc: { attempts: 1 } })
      return lot
    }
    let taking: Promise<Job[]> = Promise.resolve([])
    await Promise.all(
      Array.from({ length: LOTS_AT_ONCE }, async () => {
        for (;;) {
          // One after the other: no two take the same.
          taking = taking.then(take)
          const lot = await taking
          if (lot.length === 0) return
          await Promise.all(lot.map(({ body }) => signAndPost({ agent, url, secret: 'bench-secret', body })))
          const ended = { _id: { $in: lot.map(({ _id }) => _id) } }
          await jobs.updateMany(ended, { $set: { status: 204, endedAt: new Date() }, $unset: { dueAt: 1 } })
        }
      }),
    )
    return bodies.length / ((performance.now() - began) / 1_000)
  })
