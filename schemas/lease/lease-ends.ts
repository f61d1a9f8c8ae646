import { trusted } from '../database.ts'
import { FINAL_LEASE_STATES, Leases } from './lease.ts'

/** What visitors are told of these ends. */
export const EXPIRED = 'The time for this sign-in is over. Return to the app and start again.'
const RELEASED = 'This sign-in was ended. Return to the app and start again.'

/** What only a lease under way has. */
export const UNDER_WAY = { claimableAt: 1, claimedBy: 1, nodeUrl: 1, nodeId: 1, 'handOver.args': 1 } as const

type Filter = Record<string, unknown>

/**
 * Ends flows by a write, whoever holds them. The holder's later writes do not match any more (its hand-over is one of them), and it closes
 * its browser when it next renews its claim.
 */
async function endLeases({ filter, fields, now }: { filter: Filter; fields: Filter; now: Date }): Promise<number> {
  const { modifiedCount } = await Leases.updateMany(
    { ...filter },
    { $set: { ...fields, endedAt: now }, $unset: UNDER_WAY, $inc: { fence: 1 } },
  )
  return modifiedCount
}

/** What was handed over is carried through, whoever would like to end it since: all but a purge. */
const ENDABLE = trusted({ $nin: [...FINAL_LEASE_STATES, 'checking'] })

/** Ends flows that are to end, and have not handed over yet; returns how many. */
export const releaseLeases = ({ filter, now }: { filter: Filter; now: Date }): Promise<number> =>
  endLeases({
    filter: { ...filter, state: ENDABLE },
    fields: { state: 'released', failure: RELEASED, releaseRequestedAt: now },
    now,
  })

/** Ends those of these flows whose hour is over, and that have not handed over. */
export const expireLeases = ({ filter, now }: { filter: Filter; now: Date }): Promise<number> =>
  endLeases({
    filter: { ...filter, expiresAt: trusted({ $lte: now }), state: ENDABLE },
    fields: { state: 'failed', failure: EXPIRED },
    now,
  })

/** Ends every flow of a user whose data is deleted. From here on none of them can become a connection, not even one that was handed over. */
export const purgeLeases = ({ userId, now }: { userId: string; now: Date }): Promise<number> =>
  endLeases({
    filter: { userId, state: trusted({ $nin: FINAL_LEASE_STATES }) },
    fields: { state: 'released', failure: RELEASED, releaseRequestedAt: now },
    now,
  })

/** Whether a lease still stands behind the connect command that it was handed over as: a purge has not ended it since. */
export const isHandedOver = async ({ leaseId, commandId }: { leaseId: string; commandId: string }): Promise<boolean> =>
  (await Leases.exists({ _id: leaseId, 'handOver.commandId': commandId, state: trusted({ $ne: 'released' }) })) !== null

/** Deletes what is kept of a user's flows that had ended by then. */
export async function deleteEndedLeasesOf({ userId, before }: { userId: string; before: Date }): Promise<void> {
  await Leases.deleteMany({
    userId,
    endedAt: trusted({ $lte: before }),
    state: trusted({ $in: FINAL_LEASE_STATES }),
  })
}
