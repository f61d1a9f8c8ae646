import type { Overview } from '../wire/ops.ts'
import type { History } from './view.ts'

const STEP_MS = 15_000
/** A quarter hour. */
const STEPS = 60

/** What overviews said in the last quarter hour, one value a step: the newest of each. */
export function createHistory(): {
  note(overview: unknown, now: number): void
  /** The present step has no value yet. */
  isDue(now: number): boolean
  values(now: number): History
} {
  const steps = new Map<number, Record<keyof History, number>>()
  const stepOf = (now: number): number => Math.floor(now / STEP_MS)
  return {
    note: (overview, now) => {
      if (overview === undefined) return
      const { counts, processDetails } = overview as Overview
      steps.set(stepOf(now), {
        active: counts.connections.active,
        due: counts.syncs.due,
        waiting: counts.deliveries.waiting,
        lag: Math.max(0, ...processDetails.map(({ eventLoopLagMs }) => eventLoopLagMs)),
      })
      for (const step of steps.keys()) if (step <= stepOf(now) - STEPS) steps.delete(step)
    },
    isDue: (now) => !steps.has(stepOf(now)),
    values: (now) => {
      const all = Array.from({ length: STEPS }, (_, index) => steps.get(stepOf(now) - STEPS + 1 + index))
      return {
        active: all.map((step) => step?.active),
        due: all.map((step) => step?.due),
        waiting: all.map((step) => step?.waiting),
        lag: all.map((step) => step?.lag),
      }
    },
  }
}
