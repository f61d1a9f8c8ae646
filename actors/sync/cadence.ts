import { type Clock, HOUR, MINUTE, SECOND } from '../../core/clock.ts'

/** docs/behaviour.md, Sync cadence. All in service time (ms). */
const BACKFILL_INTERVAL_MS = 15 * MINUTE
const NEWS_INTERVAL_MS = 4 * HOUR
const LONGEST_INTERVAL_MS = 48 * HOUR
const RATE_LIMITED_INTERVAL_MS = HOUR
/** A provider that does not serve for now is asked again as soon as a backfill goes on. */
const UNAVAILABLE_INTERVAL_MS = 15 * MINUTE
/** One sync reads for so long at the most; the rest of a large history follows a backfill interval later. */
const SYNC_BUDGET_MS = 10 * MINUTE
/** In which a few calls can be made however fast service waits run (machine time). */
const SHORTEST_SYNC_BUDGET_MS = SECOND

/** How long one sync reads (machine ms). */
export const syncBudget = (clock: Clock): number => Math.max(clock.scaled(SYNC_BUDGET_MS), SHORTEST_SYNC_BUDGET_MS)

/** How a sync ended. */
export type Outcome =
  | { kind: 'complete' }
  /** Out of budget: there is more to read. */
  | { kind: 'more' }
  /** Cut short by who waits for the connection or its slot, or by the end of the process; `resumeInMs` is machine time. */
  | { kind: 'interrupted'; resumeInMs: number }
  | { kind: 'rate-limited'; retryAfterMs: number | null }
  | { kind: 'unavailable'; reason: string }
  | { kind: 'session-ended'; reason: string }

/**
 * When the next sync is due (null: never by itself), and the interval that the one after it doubles (service ms). It is absent where the
 * next complete sync begins at `NEWS_INTERVAL_MS`: news counts however the sync that brought it ended.
 */
export function nextSync({
  outcome,
  foundSomething,
  intervalMs,
  clock,
}: {
  outcome: Outcome
  foundSomething: boolean
  /** As the sync before returned it. */
  intervalMs: number | undefined
  clock: Clock
}): { due: Date | null; intervalMs: number | undefined } {
  const doubled = foundSomething ? undefined : intervalMs
  switch (outcome.kind) {
    case 'session-ended':
      return { due: null, intervalMs: doubled }
    case 'interrupted':
      return { due: new Date(clock.now().getTime() + outcome.resumeInMs), intervalMs: doubled }
    case 'rate-limited':
      return { due: clock.after(Math.max(RATE_LIMITED_INTERVAL_MS, outcome.retryAfterMs ?? 0)), intervalMs: doubled }
    case 'unavailable':
      return { due: clock.after(UNAVAILABLE_INTERVAL_MS), intervalMs: doubled }
    case 'more':
      return { due: clock.after(BACKFILL_INTERVAL_MS), intervalMs: doubled }
    case 'complete': {
      const next = doubled === undefined ? NEWS_INTERVAL_MS : Math.min(2 * doubled, LONGEST_INTERVAL_MS)
      return { due: clock.after(next), intervalMs: next }
    }
  }
}
