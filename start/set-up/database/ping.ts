import { MongoClient } from 'mongodb'
import type { Clock } from '../../../core/clock.ts'

/** Asks the server once; rejects when it has not answered within `timeoutMs`. */
export async function ping({ url, timeoutMs }: { url: string; timeoutMs: number }): Promise<void> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: timeoutMs, connectTimeoutMS: timeoutMs })
  try {
    await client.db('admin').command({ ping: 1 })
  } finally {
    await client.close()
  }
}

/** Asks until it answers, for `limitMs` at most; `alive` may end the wait early by throwing. */
export async function untilAnswers({
  ask,
  limitMs,
  alive,
  clock,
}: {
  ask: () => Promise<unknown>
  limitMs: number
  alive: () => Promise<void>
  clock: Clock
}): Promise<void> {
  const deadline = clock.elapsed() + limitMs
  for (;;) {
    try {
      await ask()
      return
    } catch (error) {
      await alive()
      if (clock.elapsed() > deadline) throw error
    }
    await clock.sleep(50)
  }
}
