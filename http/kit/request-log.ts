import type { Express, NextFunction, Request, RequestHandler, Response } from 'express'
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import { openSpan } from '../../core/tracing.ts'
import { contextOf } from './context.ts'
import type { Observe } from './metrics.ts'

/** One line, one measurement and one span per request when it ends. Paths only: queries carry tokens and user references. */
export function requestLog({ clock, log, observe }: { clock: Clock; log: Logger; observe: Observe }): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const begin = clock.elapsed()
    const { method } = request
    const span = openSpan(method)
    const context = contextOf(request)
    response.once('close', () => {
      const { id: requestId, route = 'other' } = context
      const ms = clock.elapsed() - begin
      const { statusCode: status } = response
      observe({ method, route, status, seconds: ms / 1_000 })
      span.run(() =>
        log.info(
          {
            requestId,
            method,
            route,
            status,
            ms: Math.round(ms * 10) / 10,
            ...(response.writableFinished ? {} : { aborted: true }),
          },
          'request',
        ),
      )
      span.end(`${method} ${route}`, {
        'http.request.method': method,
        'http.route': route,
        'http.response.status_code': status,
      })
    })
    span.run(next)
  }
}

/**
 * Notes the pattern of each request's route, never the path itself: a bounded number of names, and no id that somebody typed. Where a router is mounted
 * stands in the path as it was typed, in capitals or not, which is one place. It is noted while the route's router has the request: an error is answered by the application, for which the request is mounted nowhere any more.
 */
export function noteRoutes(app: Express): void {
  Object.defineProperty(app.request, 'route', {
    set(this: Request, taken: unknown) {
      if (typeof taken === 'object' && taken !== null && 'path' in taken)
        contextOf(this).route = `${this.baseUrl.toLowerCase()}${String(taken.path)}`
    },
  })
}
