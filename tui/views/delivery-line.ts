import type { OpsDeliveries } from '../../wire/ops.ts'
import { clean, counted, since, status, until } from '../text.ts'

export type Delivery = OpsDeliveries['deliveries'][number]

/** `failing`: it waits after an attempt that failed. */
export const stateOf = ({ state, attempts }: Delivery): string =>
  state === 'waiting' && attempts.some(({ error }) => error !== null) ? 'failing' : state

/** What came of the last attempt. */
export function lastAnswer({ attempts }: Delivery): string {
  const last = attempts.at(-1)
  if (!last) return '-'
  if (last.error !== null) return clean(last.error)
  return last.status === null ? 'under way' : `Answered ${last.status}`
}

/** When it is tried again, or how long ago it ended. */
export const when = ({ nextAttemptAt, endedAt }: Delivery, now: number): string =>
  endedAt === null ? until(nextAttemptAt, now) : `${since(endedAt, now)} ago`

export const deliveryLine = (delivery: Delivery, now: number): string =>
  `${status(stateOf(delivery))}  ${delivery.event}  ${delivery.id}  ${counted(delivery.attempts.length, 'attempt')}  ${lastAnswer(delivery)}  ${when(delivery, now)}`
