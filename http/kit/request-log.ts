import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Clock } from '../../core/clock.ts'
import { openSpan } from '../../core/tracing.ts'
import { contextOf } from './context.ts'
import type { Observe } from './metrics.ts'

/** One line, one measurement and one span per request when it ends. Paths only: queries carry tokens and user references. */
export function requestLog({ clock, observe }: { clock: Clock; observe: Observe }): RequestHandler {
  return (request: Request, response: Response, next: NextFunction) => {
    const begin = clock.elapsed()
    const { method } = request
    const span = openSpan(method)
    response.once('close', () => {
      const route = routeOf(request)
      const ms = clock.elapsed() - begin
      const { statusCode: status } = response
      observe({ method, route, status, seconds: ms / 1_000 })
      span.run(() =>
        contextOf(request).log.info(
          {
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

/** The route's pattern, never the path itself: a bounded number of names, and no id that somebody typed. */
function routeOf(request: Request): string {
  const route: unknown = request.route
  if (typeof route !== 'object' || route === null || !('path' in route)) return 'other'
  return `${request.baseUrl}${String(route.path)}`
}
