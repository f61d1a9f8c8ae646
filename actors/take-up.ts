import { SECOND } from '../core/clock.ts'
import { numbersOf } from '../core/numbers.ts'
import type { ActorRuntime } from './runtime.ts'

/**
 * Takes up what was claimed at `now`, all of it at once: whatever holds up or ends the rest of a look, what was begun is held, and does not run out
 * as if its process had died. What had lapsed goes back in line, with what became of it: after the first time due at once.
 */
export async function takeUp<T extends { lapsed: boolean; dueAt: Date }>(
  claimed: T[],
  {
    queue,
    now,
    runtime: { metrics },
    begin,
    countCrash,
  }: {
    /** As the metrics name it. */
    queue: 'commands' | 'connections'
    now: Date
    runtime: Pick<ActorRuntime, 'metrics'>
    begin: (one: T) => void
    countCrash: (one: T) => Promise<void>
  },
): Promise<void> {
  const { claimLateness } = numbersOf(metrics)
  for (const { dueAt } of claimed) claimLateness.observe({ queue }, (now.getTime() - dueAt.getTime()) / SECOND)
  for (const one of claimed) if (!one.lapsed) begin(one)
  await Promise.all(claimed.filter(({ lapsed }) => lapsed).map(countCrash))
}
