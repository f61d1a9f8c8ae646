import { heldBy } from '../claims.ts'
import { trusted } from '../database.ts'
import { type Lease, Leases } from './lease.ts'

/** A number in the queue above this is told as this: nobody waits for it. */
const LONGEST_QUEUE = 1_000

/**
 * Gives a flow's browser up, and not the flow: it is claimed again when its visitor comes back, or when its hour is over. Written by its
 * holder; false where another node holds it by now, or where it has been handed over after all.
 */
export async function parkLease(
  { _id, fence, expiresAt }: Pick<Lease, '_id' | 'fence' | 'expiresAt'>,
  { parkedFor, place }: Required<Pick<Lease, 'parkedFor'>> & { place: Lease['place'] },
): Promise<boolean> {
  const { matchedCount } = await Leases.updateOne(
    { ...heldBy({ _id, fence }), claimedBy: trusted({ $exists: true }), handOver: trusted({ $exists: false }) },
    {
      $set: { state: 'parked', parkedFor, claimableAt: expiresAt, ...(place && { place }) },
      $unset: { claimedBy: 1, nodeUrl: 1, nodeId: 1 },
    },
  )
  return matchedCount === 1
}

/** Lets a parked flow have a browser again; nothing where it is not parked. */
export async function resumeLease({ id, now }: { id: string; now: Date }): Promise<void> {
  await Leases.updateOne(
    { _id: id, state: 'parked' },
    { $set: { state: 'waiting', claimableAt: now, resumed: true }, $unset: { parkedFor: 1 } },
  )
}

/** The place of a flow among those that wait for a browser, from 1 on. */
export async function placeInQueue({ claimableAt }: { claimableAt: Date }): Promise<number> {
  const before = trusted({ $exists: true, $lt: claimableAt })
  return 1 + (await Leases.countDocuments({ claimableAt: before }).limit(LONGEST_QUEUE))
}
