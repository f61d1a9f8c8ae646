import { type Lease, Leases } from '../../schemas/lease/lease.ts'
import { releaseLeases } from '../../schemas/lease/lease-ends.ts'
import type { HttpRuntime } from '../kit/runtime.ts'

/**
 * Ends a hosted flow because its visitor wants no more of it; the farm closes its browser soon. Returns whether it ended: one that has been
 * handed over is carried through.
 */
export async function cancelFlow({
  flowId,
  runtime: { clock },
}: {
  flowId: string
  runtime: Pick<HttpRuntime, 'clock'>
}): Promise<boolean> {
  await releaseLeases({ filter: { _id: flowId }, reason: 'by_visitor', now: clock.now() })
  const lease = await Leases.findById(flowId).select({ state: 1 }).lean<Pick<Lease, 'state'>>()
  return lease?.state !== 'checking' && lease?.state !== 'connected'
}
