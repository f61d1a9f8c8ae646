import type { RequestHandler } from 'express'
import { type Clock, SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { within } from '../../core/within.ts'
import { tellError } from './error-answer.ts'

/** docs/security.md, Reliability: where the database is away the API answers 500 within 5 s, also where it is silent rather than gone. */
const ANSWER_MS = 4.5 * SECOND

/** Answers 500 where the handlers after it have not begun to answer in time. */
export function deadline({ clock, ms = ANSWER_MS }: { clock: Clock; ms?: number }): RequestHandler {
  return (request, response, next) => {
    const timer = clock.timer(ms, () => {
      // Not through `next`: the handlers are still at work, and their own error would come as a second one.
      if (!response.headersSent) tellError(new ServiceError('internal'), request, response)
    })
    response.once('close', () => timer.cancel())
    next()
  }
}

/** The same bound for one part of a request that may wait for longer in all. */
export const inTime = <T>(work: Promise<T>, { clock, ms = ANSWER_MS }: { clock: Clock; ms?: number }): Promise<T> =>
  within(ms, work, { clock, late: () => new ServiceError('internal') })
