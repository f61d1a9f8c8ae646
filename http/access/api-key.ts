import type { Request, RequestHandler, Response } from 'express'
import { type Clock, MINUTE, SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import type { DailyCounter } from '../../schemas/app/daily-count.ts'
import { type Caller, createCountedFinder, createUseNotes, findCaller } from '../../schemas/app/request-count.ts'
import { contextOf } from '../kit/context.ts'
import { inTime } from '../kit/deadline.ts'

/**
 * When the deprecated use of the app secret as a Bearer token was announced and when it may end, at the earliest: 90 days later
 * (docs/behaviour.md, Versioning).
 */
const DEPRECATED_SINCE = new Date('2026-09-30T00:00:00Z')
export const SUNSET = new Date('2026-12-31T00:00:00Z')

/** The app that the request speaks for. Throws where the request did not pass `authenticate`. */
export function callerOf(request: Request): Caller {
  const { caller } = contextOf(request)
  if (!caller) throw new Error('the request is not authenticated')
  return caller
}

/** `Authorization: Bearer <API_KEY>` (docs/behaviour.md, Authentication). */
export function authenticate({ clock }: { clock: Clock }): RequestHandler {
  const noteUse = createUseNotes({ clock })
  return async (request, response, next) => {
    const credential = bearerOf(request.get('authorization'))
    noteUse(admit(request, response, await inTime(findCaller({ credential, now: clock.now() }), { clock })))
    next()
  }
}

/** The same for endpoints with a rate limit: the request is counted, and every answer carries the RateLimit headers. */
export function authenticateLimited({ clock, daily }: { clock: Clock; daily: DailyCounter }): RequestHandler {
  const findCounted = createCountedFinder({ clock })
  const noteUse = createUseNotes({ clock })
  return async (request, response, next) => {
    const credential = bearerOf(request.get('authorization'))
    const caller = admit(request, response, await inTime(findCounted(credential), { clock }))
    noteUse(caller)
    countRequest(caller, daily)
    limitRate({ caller, response, now: clock.now() })
    next()
  }
}

function admit(request: Request, response: Response, caller: Caller | null): Caller {
  if (!caller) throw new ServiceError('invalid_api_key')
  Object.assign(contextOf(request), { caller, principal: caller.by })
  if (caller.by.kind === 'app-secret') announceSunset(response)
  return caller
}

/** Throws `missing_authorization` where there is no header or no Bearer prefix (docs/behaviour.md, Authentication). */
export function bearerOf(header: string | undefined): string {
  const [, credential] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? []
  if (credential === undefined) throw new ServiceError('missing_authorization')
  return credential
}

/** RFC 9745 and RFC 8594. */
function announceSunset(response: Response): void {
  response.set('Deprecation', `@${DEPRECATED_SINCE.getTime() / SECOND}`)
  response.set('Sunset', SUNSET.toUTCString())
  response.set('Link', '</docs#authentication>; rel="deprecation"; type="text/html"')
}

/** For the charts of the portal. */
function countRequest({ appId, requestsPerMinute, rate }: Caller, daily: DailyCounter): void {
  daily.add(appId, 'requests')
  daily.minute(appId, rate.count)
  if (rate.count > requestsPerMinute) daily.add(appId, 'refused')
}

/** docs/behaviour.md, Limits. Throws `rate_limited` beyond the limit. */
function limitRate({ caller, response, now }: { caller: Caller; response: Response; now: Date }): void {
  const { requestsPerMinute: limit, rate } = caller
  const resetAt = ((rate.minute + 1) * MINUTE) / SECOND
  response.set('RateLimit-Limit', String(limit))
  response.set('RateLimit-Remaining', String(Math.max(0, limit - rate.count)))
  response.set('RateLimit-Reset', String(resetAt))
  if (rate.count <= limit) return
  response.set('Retry-After', String(Math.max(1, Math.ceil(resetAt - now.getTime() / SECOND))))
  throw new ServiceError('rate_limited')
}
