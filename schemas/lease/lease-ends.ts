import { FINAL_LEASE_STATES, type FlowReason } from '../../wire/flow-ends.ts'
import { trusted, unlessDuplicate } from '../database.ts'
import { flowEnded } from '../flow-ended.ts'
import { type OutboxEntry, withEvents } from '../outbox.ts'
import { type Lease, Leases, type Viewport } from './lease.ts'

/** What only a lease under way has. */
export const UNDER_WAY = {
  claimableAt: 1,
  claimedBy: 1,
  nodeUrl: 1,
  nodeId: 1,
  'handOver.args': 1,
  parkedFor: 1,
  place: 1,
} as const

/** Of a flow that never came to have one. */
const NO_SCREEN: Viewport = { width: 0, height: 0, deviceScaleFactor: 1, mobile: false }

type Filter = Record<string, unknown>
type Told = Pick<Lease, '_id' | 'appId' | 'userRef' | 'tellsEnd'>

/** The event of a flow's end, where its app wants to hear of it. */
export const endEvents = ({ _id, appId, userRef, tellsEnd }: Told, reason: FlowReason, at: Date): OutboxEntry[] =>
  tellsEnd ? [flowEnded({ flowId: _id, appId, userRef, reason, at })] : []

/**
 * Ends flows, each by one write, whoever holds them. The holder's later writes do not match any more (its hand-over is one of them), and it
 * closes its browser when it next renews its claim. Returns how many it ended.
 */
async function endLeases({
  filter,
  fields,
  reasonOf,
  now,
}: {
  filter: Filter
  fields: Filter
  reasonOf: (lease: Pick<Lease, 'parkedFor'>) => FlowReason
  now: Date
}): Promise<number> {
  const found = await Leases.find({ ...filter })
    .select({ appId: 1, userRef: 1, tellsEnd: 1, parkedFor: 1 })
    .lean<(Told & Pick<Lease, 'parkedFor'>)[]>()
  const written = await Promise.all(
    found.map((lease) => {
      const failure = reasonOf(lease)
      const update = { $set: { ...fields, failure, endedAt: now }, $unset: UNDER_WAY, $inc: { fence: 1 } }
      return Leases.updateOne({ ...filter, _id: lease._id }, withEvents(update, endEvents(lease, failure, now), now))
    }),
  )
  return written.reduce((sum, { modifiedCount }) => sum + modifiedCount, 0)
}

/**
 * Writes a flow down as one that has ended, with the event of it, where the process that began it did not: from here on nothing can come of it,
 * however late that process wakes up. Nothing where it is written down.
 */
export async function endUnwrittenLease({
  flow,
  reason,
  now,
}: {
  flow: Pick<Lease, '_id' | 'appId' | 'userId' | 'userRef' | 'generation' | 'provider'>
  reason: FlowReason
  now: Date
}): Promise<void> {
  const times = { createdAt: now, expiresAt: now, endedAt: now, outboxAt: now }
  const ended = { state: 'failed', failure: reason, tellsEnd: true, viewport: NO_SCREEN, fence: 0, ...times } as const
  const outbox = endEvents({ ...flow, tellsEnd: true }, reason, now)
  await Leases.create({ ...flow, ...ended, outbox }).catch(unlessDuplicate)
}

/** What was handed over is carried through, whoever would like to end it since: all but a purge. */
const ENDABLE = trusted({ $nin: [...FINAL_LEASE_STATES, 'checking'] })

/** Ends flows that are to end, and have not handed over yet; returns how many. */
export const releaseLeases = ({
  filter,
  reason = 'by_operator',
  now,
}: {
  filter: Filter
  reason?: FlowReason
  now: Date
}): Promise<number> =>
  endLeases({
    filter: { ...filter, state: ENDABLE },
    fields: { state: 'released', releaseRequestedAt: now },
    reasonOf: () => reason,
    now,
  })

/** Ends those of these flows whose hour is over, and that have not handed over. */
export const expireLeases = ({ filter, now }: { filter: Filter; now: Date }): Promise<number> =>
  endLeases({
    filter: { ...filter, expiresAt: trusted({ $lte: now }), state: ENDABLE },
    fields: { state: 'failed' },
    // Whoever never got to see the provider's page did not run out of time.
    reasonOf: ({ parkedFor = 'away' }) => (parkedFor === 'away' ? 'time_over' : parkedFor),
    now,
  })

/** Ends every flow of a user whose data is deleted. From here on none of them can become a connection, not even one that was handed over. */
export const purgeLeases = ({ userId, now }: { userId: string; now: Date }): Promise<number> =>
  endLeases({
    filter: { userId, state: trusted({ $nin: FINAL_LEASE_STATES }) },
    fields: { state: 'released', releaseRequestedAt: now },
    reasonOf: () => 'deleted',
    now,
  })

/** Whether a lease still stands behind the connect command that it was handed over as: a purge has not ended it since. */
export const isHandedOver = async ({ leaseId, commandId }: { leaseId: string; commandId: string }): Promise<boolean> =>
  (await Leases.exists({ _id: leaseId, 'handOver.commandId': commandId, state: trusted({ $ne: 'released' }) })) !== null

/** Deletes what is kept of a user's flows that had ended by then, and of whose end nobody has to be told any more. */
export async function deleteEndedLeasesOf({ userId, before }: { userId: string; before: Date }): Promise<void> {
  await Leases.deleteMany({
    userId,
    endedAt: trusted({ $lte: before }),
    state: trusted({ $in: FINAL_LEASE_STATES }),
    outboxAt: trusted({ $exists: false }),
  })
}

/**
 * Ends flows of a user that began before its present number and were written down late: nothing can come of them. Those that have ended
 * are deleted.
 */
export async function endOutdatedLeases({
  userId,
  generation,
  now,
}: {
  userId: string
  generation: number
  now: Date
}): Promise<void> {
  const outdated = { userId, generation: trusted({ $lt: generation }) }
  await Leases.deleteMany({
    ...outdated,
    state: trusted({ $in: FINAL_LEASE_STATES }),
    outboxAt: trusted({ $exists: false }),
  })
  await endLeases({
    filter: { ...outdated, state: trusted({ $nin: FINAL_LEASE_STATES }) },
    fields: { state: 'released', releaseRequestedAt: now },
    reasonOf: () => 'deleted',
    now,
  })
}
