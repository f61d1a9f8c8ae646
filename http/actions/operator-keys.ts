import { ServiceError } from '../../core/errors.ts'
import { audited } from '../../schemas/operations/audit.ts'
import {
  createOperatorKey as createKey,
  type OperatorKey,
  OperatorKeys,
  revokeOperatorKey as revokeKey,
} from '../../schemas/operations/operator-key.ts'
import type { OperatorRole } from '../../wire/endpoint.ts'
import type { Act } from './act.ts'

/** The operator keys that were made, oldest first, revoked ones too. */
export const listOperatorKeys = (): Promise<OperatorKey[]> =>
  OperatorKeys.find().sort({ createdAt: 1 }).lean<OperatorKey[]>()

/** Makes an operator key, which is shown this once. */
export async function createOperatorKey({
  name,
  role,
  by,
  runtime: { clock },
}: Act & { name: string; role: OperatorRole }): Promise<{ id: string; key: string }> {
  const now = clock.now()
  return audited(
    { at: now, by, action: 'operator-key.created', details: { name, role } },
    () => createKey({ name, role, by, now }),
    ({ id }) => ({ target: id }),
  )
}

/** Revokes an operator key: it is refused from now on. Throws `not_found`. */
export async function revokeOperatorKey({ id, by, runtime: { clock } }: Act & { id: string }): Promise<void> {
  const now = clock.now()
  const outcome = await audited(
    { at: now, by, action: 'operator-key.revoked', target: id },
    () => revokeKey({ id, now }),
    (result) => (result === 'revoked' ? {} : null),
  )
  if (outcome === 'unknown') throw new ServiceError('not_found')
}
