import { type Poller, startPoller } from '../core/poller.ts'
import type { Runtime } from '../core/process.ts'
import { LOOK_AT_LEAST_MS, onWork, type Work } from '../schemas/wakeups.ts'

/** What is due and was not taken (there is no room for it, say) is looked at again after this (machine ms). */
const RETRY_MS = 50

/** A poller that looks when work of its kind was written anywhere, when some is due, and every so often all the same. */
export function startWorkPoller({
  kind,
  name = kind,
  retryMs = RETRY_MS,
  work,
  nextDue,
  runtime: { clock, log },
}: {
  kind: Work
  name?: string
  retryMs?: number
  /** Returns how much it found; it is called again at once where that is more than 0. */
  work: () => Promise<number>
  /** When the first of what waits is due; undefined where that is later than `LOOK_AT_LEAST_MS` from now. */
  nextDue?: () => Promise<Date | undefined>
  runtime: Pick<Runtime, 'clock' | 'log'>
}): Poller {
  const due = nextDue && { nextDue }
  const poller = startPoller({ name, everyMs: LOOK_AT_LEAST_MS, retryMs, work, ...due, clock, log })
  const wakeups = onWork(kind, poller.hint)
  return {
    hint: poller.hint,
    stop: async () => {
      await wakeups.stop()
      await poller.stop()
    },
  }
}
