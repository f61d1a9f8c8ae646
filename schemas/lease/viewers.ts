import { Leases } from './lease.ts'

/** A page watches this flow from now on; whoever watched it before is replaced. */
export async function noteViewer({ leaseId, viewer }: { leaseId: string; viewer: string }): Promise<void> {
  await Leases.updateOne({ _id: leaseId }, { $set: { viewer }, $unset: { leftAt: 1 } })
}

/** That page is gone; nothing where another one watches by now. */
export async function noteViewerGone({
  leaseId,
  viewer,
  now,
}: {
  leaseId: string
  viewer: string
  now: Date
}): Promise<void> {
  await Leases.updateOne({ _id: leaseId, viewer }, { $set: { leftAt: now } })
}
