import { heldBy } from '../schemas/claims.ts'
import { trusted } from '../schemas/database.ts'
import { type Lease, Leases } from '../schemas/lease/lease.ts'
import { endEvents, UNDER_WAY } from '../schemas/lease/lease-ends.ts'
import { withEvents } from '../schemas/outbox.ts'
import { wake } from '../schemas/wakeups.ts'
import type { FlowReason } from '../wire/flow-ends.ts'

type Claimed = Pick<Lease, '_id' | 'fence'>

/** Writes as the present holder; false where another node holds the lease by now, and nothing was written. */
export async function writeAsHolder(lease: Claimed, fields: Partial<Lease>): Promise<boolean> {
  const { matchedCount } = await Leases.updateOne(
    { ...heldBy(lease), claimedBy: trusted({ $exists: true }) },
    { $set: fields },
  )
  if (matchedCount === 1) wake('flows')
  return matchedCount === 1
}

/** The provider's page is open. Says nothing of a flow that got further meanwhile, however late it is written. */
export async function noteLive(lease: Claimed): Promise<void> {
  await Leases.updateOne({ ...heldBy(lease), state: 'starting' }, { $set: { state: 'live' } })
}

/** The command has the session by now. */
export async function forgetSession(lease: Claimed): Promise<void> {
  await Leases.updateOne(heldBy(lease), { $unset: { 'handOver.args': 1 } })
}

/** How a flow ended. */
export type LeaseOutcome = { state: 'connected'; connectionId: string } | { state: 'failed'; failure: FlowReason }

/** Ends a lease for good; false where another node holds it by now. Of one that was handed over, the command tells the app. */
export async function endLease(lease: Lease, outcome: LeaseOutcome, now: Date): Promise<boolean> {
  const events = outcome.state === 'failed' && !lease.handOver ? endEvents(lease, outcome.failure, now) : []
  const { matchedCount } = await Leases.updateOne(
    { ...heldBy(lease), claimedBy: trusted({ $exists: true }) },
    withEvents({ $set: { ...outcome, endedAt: now }, $unset: UNDER_WAY }, events, now),
  )
  return matchedCount === 1
}

/** Lets another node claim the lease at once. */
export async function handBack(lease: Claimed & Pick<Lease, 'handOver'>, now: Date): Promise<void> {
  await Leases.updateOne(
    { ...heldBy(lease), claimedBy: trusted({ $exists: true }) },
    {
      $set: { claimableAt: now, ...(!lease.handOver && { state: 'waiting' }) },
      $unset: { claimedBy: 1, nodeUrl: 1, nodeId: 1 },
    },
  )
}
