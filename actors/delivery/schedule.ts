import { type Clock, MINUTE } from '../../core/clock.ts'
import { ATTEMPTS } from '../../schemas/deliveries.ts'
import type { Attempt, Delivery } from '../../schemas/delivery.ts'
import type { Settlement } from '../../schemas/delivery-claims.ts'
import { NO_WEBHOOK_URL } from './failure.ts'

/** SPEC.md, Events: the delay after the first, second, … failed attempt (service time). */
const DELAYS_MS = [2 * MINUTE, 4 * MINUTE, 8 * MINUTE, 16 * MINUTE, 32 * MINUTE] as const

/** What follows from the result of a delivery's last attempt. */
export function settlementOf(delivery: Delivery, attempt: Attempt, clock: Clock): Settlement {
  const { _id, fence, appId } = delivery
  return { _id, fence, appId, attempt, outcome: nextOf(delivery, attempt, clock) }
}

function nextOf({ attemptsBefore }: Delivery, attempt: Attempt, clock: Clock): Settlement['outcome'] {
  if (attempt.error === undefined) return { ended: 'delivered' }
  if (attempt.error === NO_WEBHOOK_URL) return { ended: 'dropped' }
  const failed = attempt.number - attemptsBefore
  const delay = failed < ATTEMPTS ? DELAYS_MS[failed - 1] : undefined
  return delay === undefined ? { ended: 'dropped' } : { nextAt: clock.after(delay) }
}
