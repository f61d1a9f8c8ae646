import type { Request, RequestHandler } from 'express'
import { type Clock, SECOND } from '../../core/clock.ts'
import { contextOf } from './context.ts'

/** No body of ours but an upload is larger than 100 KiB: one that takes longer is held open on purpose (machine time). */
const BODY_MS = 15 * SECOND

/** Ends the connection of a request whose body does not come in time, whether anybody reads it, or it was answered long before. */
export function bodyTime({ clock }: { clock: Clock }): RequestHandler {
  return (request, _response, next) => {
    const { 'content-length': length = '0', 'transfer-encoding': encoding } = request.headers
    if (length === '0' && encoding === undefined) return next()
    const timer = clock.timer(BODY_MS, () => {
      if (!request.complete) request.socket.destroy()
    })
    contextOf(request).bodyTimer = timer
    request.once('end', () => timer.cancel())
    next()
  }
}

/** Lets the body of a caller who is known take as long as a request may: an upload. */
export const takeUpload = (request: Request): void => contextOf(request).bodyTimer?.cancel()
