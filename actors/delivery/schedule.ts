import { type Clock, MINUTE } from '../../core/clock.ts'
import { ATTEMPTS } from '../../schemas/delivery/deliveries.ts'
import type { Settlement } from '../../schemas/delivery/delivery-claims.ts'
import { NO_WEBHOOK_URL } from './failure.ts'

/** docs/behaviour.md, Events: the delay after the first, second, … failed attempt (service time). */
const DELAYS_MS = [2 * MINUTE, 4 * MINUTE, 8 * MINUTE, 16 * MINUTE, 32 * MINUTE] as const

/** How long to wait after so many failed attempts (service time); undefined: it is given up. */
export const retryDelay = (made: number): number | undefined => (made < ATTEMPTS ? DELAYS_MS[made - 1] : undefined)

/** What follows from an attempt's `error`; `made`: attempts that count among the present six, this one included. */
export function outcomeOf({
  error,
  made,
  clock,
}: {
  error: string | undefined
  made: number
  clock: Clock
}): Settlement['outcome'] {
  if (error === undefined) return { ended: 'delivered' }
  if (error === NO_WEBHOOK_URL) return { ended: 'dropped' }
  const delay = retryDelay(made)
  return delay === undefined ? { ended: 'dropped' } : { retryInMs: clock.scaled(delay) }
}
