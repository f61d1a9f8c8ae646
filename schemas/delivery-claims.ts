import { newId } from '../core/ids.ts'
import { CLAIM_MS, type Held, heldBy } from './claims.ts'
import { trusted } from './database.ts'
import { KEPT_MS } from './deliveries.ts'
import { type Attempt, Deliveries, type Delivery } from './delivery.ts'
import { hastenLanes } from './delivery-lane.ts'

export interface ClaimedDeliveries {
  /** Their last attempt is ours, and has begun. */
  begun: Delivery[]
  /** Their last attempt was claimed by a process that is gone: it has failed. */
  interrupted: Delivery[]
  /** Nothing more of this app is due. */
  drained: boolean
}

/**
 * Claims up to `limit` of an app's longest due deliveries, in two round trips where nobody competes. The claim itself writes the
 * attempt down (CONTRACTS.md: an attempt counts from when it is claimed).
 */
export async function claimDeliveries({
  appId,
  limit,
  now,
}: {
  appId: string
  limit: number
  now: Date
}): Promise<ClaimedDeliveries> {
  const due = await Deliveries.find({ appId, claimableAt: trusted({ $lte: now }) })
    .sort({ claimableAt: 1 })
    .limit(limit)
    .lean<Delivery[]>()
  const interrupted = due.filter(({ claimedBy }) => claimedBy !== undefined)
  const claimed = await Promise.all(
    [...byAttempts(due.filter(({ claimedBy }) => claimedBy === undefined))].map(([made, group]) =>
      claim(group, {
        now,
        filter: { claimedBy: absent, attempts: trusted({ $size: made }) },
        attempt: { number: made + 1, at: now },
      }),
    ),
  )
  return {
    begun: claimed.flat(),
    interrupted: await claim(interrupted, { now, filter: { claimedBy: trusted({ $exists: true }) } }),
    drained: due.length < limit,
  }
}

const absent = trusted({ $exists: false })

function byAttempts(due: Delivery[]): Map<number, Delivery[]> {
  const groups = new Map<number, Delivery[]>()
  for (const delivery of due) {
    const made = delivery.attempts.length
    groups.set(made, [...(groups.get(made) ?? []), delivery])
  }
  return groups
}

/** Claims documents of one kind as they were read; those that changed meanwhile do not match `filter` and are left out. */
async function claim(
  found: Delivery[],
  { now, filter, attempt }: { now: Date; filter: Record<string, unknown>; attempt?: Attempt },
): Promise<Delivery[]> {
  if (found.length === 0) return []
  const _id = trusted({ $in: found.map((delivery) => delivery._id) })
  const claimedBy = newId()
  const claimableAt = new Date(now.getTime() + CLAIM_MS)
  const { modifiedCount } = await Deliveries.updateMany(
    { _id, claimableAt: trusted({ $lte: now }), ...filter },
    { $set: { claimableAt, claimedBy }, $inc: { fence: 1 }, ...(attempt && { $push: { attempts: attempt } }) },
  )
  if (modifiedCount < found.length) return Deliveries.find({ _id, claimedBy }).lean<Delivery[]>()
  return found.map((delivery) => ({
    ...delivery,
    claimableAt,
    claimedBy,
    fence: delivery.fence + 1,
    attempts: attempt ? [...delivery.attempts, attempt] : delivery.attempts,
  }))
}

/** What became of an attempt, and of its delivery. */
export interface Settlement extends Held {
  appId: string
  /** Takes the place of the attempt of the same number. */
  attempt: Attempt
  /** When the next attempt is due, or how the delivery ended. */
  outcome: { nextAt: Date } | { ended: 'delivered' | 'dropped' }
}

const NEVER = new Date(8.64e15)

/** Records results in one go. A result whose holder has lost its claim changes nothing. */
export async function settleDeliveries(settlements: Settlement[], now: Date): Promise<void> {
  const expireAt = new Date(now.getTime() + KEPT_MS)
  const lanes = new Map<string, Date>()
  const writes = settlements.map(({ _id, fence, appId, attempt, outcome }) => {
    const result = { [`attempts.${attempt.number - 1}`]: attempt }
    const filter = { ...heldBy({ _id, fence }), claimedBy: { $exists: true } } as never
    if ('ended' in outcome) {
      const $set = { ...result, state: outcome.ended, endedAt: now, expireAt }
      return { updateOne: { filter, update: { $set, $unset: { claimedBy: 1, claimableAt: 1 } } } }
    }
    if (outcome.nextAt < (lanes.get(appId) ?? NEVER)) lanes.set(appId, outcome.nextAt)
    return {
      updateOne: { filter, update: { $set: { ...result, claimableAt: outcome.nextAt }, $unset: { claimedBy: 1 } } },
    }
  })
  await Deliveries.collection.bulkWrite(writes as never[], { ordered: false })
  await hastenLanes(lanes)
}
