import type { Delivery } from '../../../schemas/delivery/delivery.ts'
import type { Markup } from '../../pages/kit/html.ts'
import { pill } from '../kit/parts.ts'

/** What each state of a delivery is called. */
export const STATE_WORDS = { waiting: 'Waiting', delivered: 'Delivered', dropped: 'Failed' } as const

/** The state of a delivery as a word; one that waits for another attempt is told from one that waits for its first. */
export function statePill({ state, attempts }: Delivery): Markup {
  if (state === 'delivered') return pill(STATE_WORDS.delivered, 'good')
  if (state === 'dropped') return pill(STATE_WORDS.dropped, 'bad')
  return attempts.some(({ error }) => error !== undefined) ? pill('Retrying', 'warn') : pill(STATE_WORDS.waiting)
}
