import { heldBy } from '../schemas/claims.ts'
import { dueBy, trusted } from '../schemas/database.ts'
import { type Lease, Leases } from '../schemas/lease/lease.ts'

type Claimed = Pick<Lease, '_id' | 'fence'>

/** Writes as the present holder; false where another node holds the lease by now, and nothing was written. */
export async function writeAsHolder(lease: Claimed, fields: Partial<Lease>): Promise<boolean> {
  const { matchedCount } = await Leases.updateOne(
    { ...heldBy(lease), claimedBy: trusted({ $exists: true }) },
    { $set: fields },
  )
  return matchedCount === 1
}

/** How a flow ended. */
export type LeaseOutcome =
  | { state: 'connected'; connectionId: string }
  | { state: 'failed'; failure: string }
  | { state: 'released'; failure: string }

const ENDED = { claimableAt: 1, claimedBy: 1, nodeUrl: 1, nodeId: 1 } as const

/** Ends a lease for good; false where another node holds it by now. */
export async function endLease(lease: Claimed, outcome: LeaseOutcome, now: Date): Promise<boolean> {
  const { matchedCount } = await Leases.updateOne(
    { ...heldBy(lease), claimedBy: trusted({ $exists: true }) },
    { $set: { ...outcome, endedAt: now }, $unset: ENDED },
  )
  return matchedCount === 1
}

/** Lets another node claim the lease at once. */
export async function handBack(lease: Claimed, now: Date): Promise<void> {
  await Leases.updateOne(
    { ...heldBy(lease), claimedBy: trusted({ $exists: true }) },
    { $set: { state: 'waiting', claimableAt: now }, $unset: { claimedBy: 1, nodeUrl: 1, nodeId: 1 } },
  )
}

/** Ends what nobody holds and nobody needs to: flows whose time is over, or that were asked to end before a node took them. */
export async function endIdleLeases({
  now,
  expired,
  released,
}: {
  now: Date
  /** What the visitor is told in each case. */
  expired: string
  released: string
}): Promise<void> {
  const idle = { claimableAt: dueBy(now) }
  await Leases.updateMany(
    { ...idle, releaseRequestedAt: trusted({ $exists: true }) },
    { $set: { state: 'released', failure: released, endedAt: now }, $unset: ENDED },
  )
  await Leases.updateMany(
    { ...idle, expiresAt: trusted({ $lte: now }), state: trusted({ $ne: 'checking' }) },
    { $set: { state: 'failed', failure: expired, endedAt: now }, $unset: ENDED },
  )
}
