import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { newId } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'

/** What is known of one request from its first moment. */
export interface RequestContext {
  /** `X-Request-Id` of the answer and of every log line. */
  id: string
  log: Logger
}

/** An id that a proxy in front may have given. */
const GIVEN_ID = /^[\w.:-]{1,128}$/

const contexts = new WeakMap<Request, RequestContext>()

/** Throws where the request did not pass `requestContext`. */
export function contextOf(request: Request): RequestContext {
  const context = contexts.get(request)
  if (!context) throw new Error('the request has no context')
  return context
}

/** Names the request: its own valid `X-Request-Id`, or a new one. */
export function requestContext({ log }: { log: Logger }): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const given = request.get('x-request-id')
    const id = given !== undefined && GIVEN_ID.test(given) ? given : newId()
    contexts.set(request, { id, log: log.child({ requestId: id }) })
    response.set('X-Request-Id', id)
    next()
  }
}
