import type { RequestHandler } from 'express'
import { type Clock, SECOND } from '../../core/clock.ts'

/** A body of the few kilobytes that these parsers take and that takes longer is held open on purpose (machine time). */
const BODY_TIME_MS = 15 * SECOND

/** A body parser that gives the sender 15 s; then its connection ends. */
export function bodyInTime(parse: RequestHandler, { clock }: { clock: Clock }): RequestHandler {
  return (request, response, next) => {
    const timer = clock.timer(BODY_TIME_MS, () => request.destroy())
    return parse(request, response, (error?: unknown) => {
      timer.cancel()
      next(error)
    })
  }
}
