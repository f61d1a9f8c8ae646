import type { Request, RequestHandler, Response } from 'express'
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { trusted } from '../../schemas/database.ts'
import { FINAL_LEASE_STATES, type Lease, Leases } from '../../schemas/lease/lease.ts'
import { recordAudit } from '../../schemas/operations/audit.ts'
import type { OpsLeases } from '../../wire/ops.ts'
import { OPERATOR } from '../access/operator.ts'
import { parseInput } from '../kit/input.ts'
import { isoOrNull, listingQuery } from './query.ts'

/** GET /ops/leases: the newest connect flows, those under way and those that ended. */
export const listLeases: RequestHandler = async (request, response) => {
  const { limit, appId, state } = parseInput(listingQuery, request.query)
  const filter: Record<string, unknown> = {
    ...(appId !== undefined && { appId }),
    ...(state !== undefined && { state }),
  }
  const leases = await Leases.find(filter).sort({ createdAt: -1 }).limit(limit).lean<Lease[]>()
  const answer: OpsLeases = { leases: leases.map(view) }
  response.json(answer)
}

const view = (lease: Lease): OpsLeases['leases'][number] => ({
  id: lease._id,
  appId: lease.appId,
  userRef: lease.userRef,
  provider: lease.provider,
  state: lease.state,
  failure: lease.failure ?? null,
  nodeId: lease.nodeId ?? null,
  connectionId: lease.connectionId ?? null,
  viewport: lease.viewport,
  releaseRequestedAt: isoOrNull(lease.releaseRequestedAt),
  createdAt: lease.createdAt.toISOString(),
  expiresAt: lease.expiresAt.toISOString(),
  endedAt: isoOrNull(lease.endedAt),
})

/** POST /ops/leases/:id/release: the farm closes the browser soon; one that has ended stays as it is. */
export const postRelease =
  ({ clock }: { clock: Clock }) =>
  async (request: Request, response: Response): Promise<void> => {
    const id = String(request.params['id'])
    const now = clock.now()
    const lease = isUuid(id) ? await Leases.findById(id).lean<Lease>() : null
    if (!lease) throw new ServiceError('not_found')
    const { modifiedCount } = await Leases.updateOne(
      { _id: id, state: trusted({ $nin: FINAL_LEASE_STATES }), releaseRequestedAt: trusted({ $exists: false }) },
      { $set: { releaseRequestedAt: now } },
    )
    if (modifiedCount > 0) {
      await recordAudit({ at: now, by: OPERATOR, action: 'lease.released', appId: lease.appId, target: id })
    }
    response.json({ ok: true, state: lease.state })
  }
