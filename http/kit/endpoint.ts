import type { RequestHandler, Router } from 'express'
import { ServiceError } from '../../core/errors.ts'
import type { Method } from '../../wire/endpoint.ts'

/** Puts the methods of one path on a router; every other method is answered 405 with `Allow`. */
export function endpoint(router: Router, path: string, methods: Partial<Record<Method, RequestHandler[]>>): void {
  const route = router.route(path)
  const names = Object.keys(methods) as Method[]
  for (const name of names) route[name](...(methods[name] ?? []))
  const allow = names.flatMap((name) => (name === 'get' ? ['GET', 'HEAD'] : [name.toUpperCase()])).join(', ')
  route.all((_request, response) => {
    response.set('Allow', allow)
    throw new ServiceError('method_not_allowed')
  })
}
