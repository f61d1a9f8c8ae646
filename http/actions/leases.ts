import { ServiceError } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { type Lease, Leases } from '../../schemas/lease/lease.ts'
import { releaseLeases } from '../../schemas/lease/lease-ends.ts'
import { audited } from '../../schemas/operations/audit.ts'
import type { Act } from './act.ts'

/** The newest connect flows, those under way and those that ended. */
export const listLeases = ({
  appId,
  state,
  limit,
}: {
  appId?: string | undefined
  state?: string | undefined
  limit: number
}): Promise<Lease[]> => {
  const filter: Record<string, unknown> = {
    ...(appId !== undefined && { appId }),
    ...(state !== undefined && { state }),
  }
  return Leases.find(filter).sort({ createdAt: -1 }).limit(limit).lean<Lease[]>()
}

/** Ends a lease: the farm closes its browser soon; one that has ended, or has handed over, stays as it is. Throws `not_found`. */
export async function releaseLease({ id, by, runtime: { clock } }: Act & { id: string }): Promise<Lease> {
  const now = clock.now()
  const lease = isUuid(id) ? await Leases.findById(id).lean<Lease>() : null
  if (!lease) throw new ServiceError('not_found')
  await audited(
    { at: now, by, action: 'lease.released', appId: lease.appId, target: id },
    () => releaseLeases({ filter: { _id: id }, now }),
    (released) => (released > 0 ? {} : null),
  )
  return lease
}
