import type { Request, RequestHandler } from 'express'
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { sameSecret } from '../../core/ids.ts'
import { findOperatorKey } from '../../schemas/operations/operator-key.ts'
import type { Principal } from '../../schemas/principal.ts'
import type { OperatorRole } from '../../wire/endpoint.ts'
import { contextOf } from '../kit/context.ts'
import { inTime } from '../kit/deadline.ts'
import { bearerOf } from './api-key.ts'

interface Operator {
  principal: Principal
  role: OperatorRole
}

/** Who shows the key that the service is set up with: the first one, of which nobody knows who of the operators has it. */
const FIRST: Operator = { principal: { kind: 'operator', id: 'operator-key' }, role: 'operator' }

const RANK: Record<OperatorRole, number> = { support: 0, operator: 1 }

/** `Authorization: Bearer <operator key>` (docs/behaviour.md, Operators). */
export function operatorOnly({
  operatorKey,
  clock,
}: {
  operatorKey: string | undefined
  clock: Clock
}): RequestHandler {
  return async (request, _response, next) => {
    const credential = bearerOf(request.get('authorization'))
    const isFirst = operatorKey !== undefined && sameSecret(credential, operatorKey)
    const operator = isFirst ? FIRST : await inTime(find(credential), { clock })
    if (!operator) throw new ServiceError('invalid_operator_key')
    Object.assign(contextOf(request), { principal: operator.principal, operatorRole: operator.role })
    next()
  }
}

async function find(credential: string): Promise<Operator | null> {
  const key = await findOperatorKey(credential)
  return key && { principal: { kind: 'operator', id: key._id }, role: key.role }
}

/** After `operatorOnly`: refuses a key whose role is less. */
export const roleAtLeast =
  (least: OperatorRole): RequestHandler =>
  (request, _response, next) => {
    if (RANK[roleOf(request)] < RANK[least]) throw new ServiceError('operator_role')
    next()
  }

function roleOf(request: Request): OperatorRole {
  const { operatorRole } = contextOf(request)
  if (!operatorRole) throw new Error('the request is not authenticated')
  return operatorRole
}
