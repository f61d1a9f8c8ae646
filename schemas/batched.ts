import { setImmediate as endOfTurn } from 'node:timers/promises'
import { SECOND, systemClock } from '../core/clock.ts'
import { within } from '../core/within.ts'

/** A batch that takes longer (machine ms) may be on a connection that has fallen silent: it holds up those in it, and nobody else. */
const PATIENCE_MS = SECOND / 2

/**
 * Lets calls that come in one turn of the event loop share their work, and those that come while it is under way share the next, which begins when that
 * has ended, or takes too long. A call never takes part in work that began before it, so it sees whatever was acknowledged before it was made.
 */
export function batched<K, V>(load: (keys: K[]) => Promise<V[]>): (key: K) => Promise<V> {
  interface Waiting {
    key: K
    resolve: (value: V) => void
    reject: (error: unknown) => void
  }
  let waiting: Waiting[] = []
  let underWay = false
  const clock = systemClock()

  const settle = async (batch: Waiting[]): Promise<void> => {
    try {
      const values = await load(batch.map(({ key }) => key))
      for (const [index, { resolve }] of batch.entries()) resolve(values[index] as V)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }
  const run = async (): Promise<void> => {
    underWay = true
    while (waiting.length > 0) {
      await endOfTurn()
      const batch = waiting
      waiting = []
      await within(PATIENCE_MS, settle(batch), { clock, late: () => new Error('late') }).catch(() => undefined)
    }
    underWay = false
  }

  return (key) =>
    new Promise((resolve, reject) => {
      waiting.push({ key, resolve, reject })
      if (!underWay) void run()
    })
}
