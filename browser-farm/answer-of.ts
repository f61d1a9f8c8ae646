import { type Clock, SECOND } from '../core/clock.ts'
import { within } from '../core/within.ts'

/** A page that does not answer is busy, perhaps for ever, or holds everything up with a dialog (machine time). */
const ANSWER_MS = 2 * SECOND

/**
 * What a page says of itself; undefined from one that is gone, or says nothing in time. Whatever needs the page's own process to answer is asked
 * through this: a script that never ends would hold a lease, and its place on the node, for good.
 */
export const answerOf = <T>(asked: Promise<T>, clock: Pick<Clock, 'timer'>): Promise<T | undefined> =>
  within(ANSWER_MS, asked, { clock, late: () => new Error('the page does not answer') }).catch(() => undefined)
