import type { Clock } from '../../core/clock.ts'
import type { Attempt, Delivery } from '../../schemas/delivery.ts'
import type { Settlement } from '../../schemas/delivery-claims.ts'
import type { Endpoint } from './endpoints.ts'
import { INTERRUPTED } from './failure.ts'
import { settlementOf } from './schedule.ts'
import { type SendOptions, sendWebhook } from './send.ts'

function lastAttempt({ _id, attempts }: Delivery): Attempt {
  const attempt = attempts.at(-1)
  if (!attempt) throw new Error(`delivery ${_id} was claimed without an attempt`)
  return attempt
}

/** Makes the attempt that the claim began. */
export async function makeAttempt({
  delivery,
  endpoint,
  ...options
}: {
  delivery: Delivery
  endpoint: Endpoint
} & Pick<SendOptions, 'agent' | 'clock' | 'allowPrivate' | 'signal'>): Promise<Settlement> {
  const { event, body } = delivery
  const result =
    'problem' in endpoint
      ? { durationMs: 0, error: endpoint.problem }
      : await sendWebhook({ ...options, ...endpoint, event, body })
  return settlementOf(delivery, { ...lastAttempt(delivery), ...result }, options.clock)
}

/** The attempt of a holder that is gone has failed, whatever the receiver saw of it. */
export function interruptedAttempt(delivery: Delivery, clock: Clock): Settlement {
  const attempt = lastAttempt(delivery)
  const durationMs = Math.max(0, clock.now().getTime() - attempt.at.getTime())
  return settlementOf(delivery, { ...attempt, durationMs, error: INTERRUPTED }, clock)
}
