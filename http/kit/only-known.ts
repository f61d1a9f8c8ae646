import type { RequestHandler } from 'express'
import { z } from 'zod'
import { ServiceError } from '../../core/errors.ts'
import type { Endpoint } from '../../wire/endpoint.ts'

/**
 * Refuses a field of the query or body that an endpoint does not know, with `invalid_parameter`: a slip in the name of what bounds a change would
 * otherwise widen it. After the body.
 */
export function onlyKnown({ query, body }: Endpoint): RequestHandler {
  const [inQuery, inBody] = [namesOf(query), namesOf(body)]
  return (request, _response, next) => {
    const unknown = [
      ...Object.keys(request.query).filter((name) => !inQuery.has(name)),
      ...(body ? Object.keys(request.body).filter((name) => !inBody.has(name)) : []),
    ]
    const [name] = unknown
    if (name !== undefined) throw new ServiceError('invalid_parameter', { name, reason: 'is not known' })
    next()
  }
}

const namesOf = (shape: z.ZodType | undefined): Set<string> =>
  new Set(shape instanceof z.ZodObject ? Object.keys(shape.shape) : [])
