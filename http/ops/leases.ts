import type { Lease } from '../../schemas/lease/lease.ts'
import type { OpsLeases } from '../../wire/ops.ts'
import { listLeases, releaseLease } from '../actions/leases.ts'
import type { OpsPart } from './handler.ts'
import { isoOrNull } from './iso.ts'

export const leaseHandlers: OpsPart<'listLeases' | 'releaseLease'> = (runtime) => ({
  listLeases: async ({ query }) => ({ leases: (await listLeases(query)).map(view) }),
  releaseLease: async ({ params, by }) => ({ ok: true, state: (await releaseLease({ ...params, by, runtime })).state }),
})

const view = (lease: Lease): OpsLeases['leases'][number] => ({
  id: lease._id,
  appId: lease.appId,
  userRef: lease.userRef,
  provider: lease.provider,
  state: lease.state,
  failure: lease.failure ?? null,
  nodeId: lease.nodeId ?? null,
  connectionId: lease.connectionId ?? null,
  viewerPresent: lease.viewerPresent ?? false,
  viewport: lease.viewport,
  releaseRequestedAt: isoOrNull(lease.releaseRequestedAt),
  createdAt: lease.createdAt.toISOString(),
  expiresAt: lease.expiresAt.toISOString(),
  endedAt: isoOrNull(lease.endedAt),
})
