import type { Clock } from '../../core/clock.ts'
import type { Attempt, AttemptResult, Delivery } from '../../schemas/delivery/delivery.ts'
import type { Settlement } from '../../schemas/delivery/delivery-claims.ts'
import type { Endpoint } from './endpoints.ts'
import { INTERRUPTED } from './failure.ts'
import { outcomeOf } from './schedule.ts'
import { type SendOptions, sendWebhook } from './send.ts'

/** Makes the attempt that the claim began. */
export async function makeAttempt({
  delivery,
  endpoint,
  ...options
}: {
  delivery: Delivery
  endpoint: Endpoint
} & Pick<SendOptions, 'agent' | 'clock' | 'signal'>): Promise<Settlement> {
  const { event, body } = delivery
  const result =
    'problem' in endpoint
      ? { durationMs: 0, error: endpoint.problem }
      : await sendWebhook({ ...options, ...endpoint, event, body })
  return settlementOf(delivery, result, options.clock)
}

/** The attempt of a holder that is gone has failed, whatever the receiver saw of it. */
export function interruptedAttempt(delivery: Delivery, clock: Clock): Settlement {
  const durationMs = Math.max(0, clock.now().getTime() - lastAttempt(delivery).at.getTime())
  return settlementOf(delivery, { durationMs, error: INTERRUPTED }, clock)
}

function settlementOf(delivery: Delivery, result: AttemptResult, clock: Clock): Settlement {
  const { _id, appId, claimedBy, attemptsBefore } = delivery
  if (claimedBy === undefined) throw new Error(`delivery ${_id} is not claimed`)
  const { number } = lastAttempt(delivery)
  const outcome = outcomeOf({ error: result.error, made: number - attemptsBefore, clock })
  return { _id, appId, claimedBy, number, result, outcome }
}

function lastAttempt({ _id, attempts }: Delivery): Attempt {
  const attempt = attempts.at(-1)
  if (!attempt) throw new Error(`delivery ${_id} was claimed without an attempt`)
  return attempt
}
