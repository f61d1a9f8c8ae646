import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Timer } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import type { App } from '../../schemas/app/app.ts'
import type { Caller } from '../../schemas/app/request-count.ts'
import type { Principal } from '../../schemas/principal.ts'
import type { OperatorRole } from '../../wire/endpoint.ts'

/** All that is known of one request, in one place: what is learned on the way is put here by whoever learns it. */
interface RequestContext {
  /** `X-Request-Id` of the answer and of every log line. */
  readonly id: string
  readonly log: Logger
  /** Who asks, once it is known. */
  principal?: Principal
  /** The app that an API key speaks for (http/access/api-key.ts). */
  caller?: Caller
  /** What an operator may do (http/access/operator.ts). */
  operatorRole?: OperatorRole
  /** The pattern of its route, once it has come to one (http/kit/request-log.ts). */
  route?: string
  /** Ends the wait for the body (http/kit/body-time.ts). */
  bodyTimer?: Timer
  /** The app under whose name a page stands, that of an error too. */
  branding?: Pick<App, '_id' | 'name' | 'logoUrl' | 'primaryColor'>
  /** The way back to that app, where its link named one that is allowed. */
  returnUrl?: string
  /** The language that its link asks for. */
  locale?: string
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

/** Who asks. Throws where nobody made sure of it yet. */
export function principalOf(request: Request): Principal {
  const { principal } = contextOf(request)
  if (!principal) throw new Error('the request is not authenticated')
  return principal
}

/** Names the request: its own valid `X-Request-Id`, or a new one. */
export function requestContext({ log }: { log: Logger }): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const given = request.get('x-request-id')
    const id = given !== undefined && GIVEN_ID.test(given) ? given : newId()
    let own: Logger | undefined
    contexts.set(request, {
      id,
      // Made for those that have something to say.
      get log() {
        own ??= log.child({ requestId: id })
        return own
      },
    })
    response.set('X-Request-Id', id)
    next()
  }
}
