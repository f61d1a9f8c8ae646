import type { RequestHandler } from 'express'
import { ServiceError } from '../../core/errors.ts'
import { sameSecret } from '../../core/ids.ts'
import type { Principal } from '../../schemas/principal.ts'
import { contextOf } from '../kit/context.ts'
import { bearerOf } from './api-key.ts'

/** There is one operator key: who of the operators it was is not known to the service. */
export const OPERATOR: Principal = { kind: 'operator', id: 'operator-key' }

/** `Authorization: Bearer <operator key>` (docs/behaviour.md, Operators). */
export function operatorOnly({ operatorKey }: { operatorKey: string }): RequestHandler {
  return (request, _response, next) => {
    if (!sameSecret(bearerOf(request.get('authorization')), operatorKey)) throw new ServiceError('invalid_operator_key')
    contextOf(request).principal = OPERATOR
    next()
  }
}
