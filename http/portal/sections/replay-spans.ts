import { DAY, HOUR } from '../../../core/clock.ts'

/** Since when failed deliveries can be replayed; the labels are shown. */
export const REPLAY_SPANS = [
  { value: '1', label: 'Last hour', ms: HOUR },
  { value: '24', label: 'Last 24 hours', ms: DAY },
  { value: '168', label: 'Last 7 days', ms: 7 * DAY },
]
