import { newId } from '../../core/ids.ts'
import { CLAIM_MS } from '../claims.ts'
import { answeredAtLast, trusted } from '../database.ts'
import { KEPT_MS } from './deliveries.ts'
import { type Attempt, type AttemptResult, Deliveries, type Delivery } from './delivery.ts'
import { bringLanesForward } from './delivery-lane.ts'

interface ClaimedDeliveries {
  /** Their last attempt is ours, and has begun. */
  begun: Delivery[]
  /** How long each of these waited from the moment at which it was due (ms). */
  waitedMs: number[]
  /** Their last attempt was claimed by a process that is gone: it has failed. */
  interrupted: Delivery[]
  /** Nothing more of this app is due. */
  drained: boolean
}

/**
 * Claims up to `limit` of an app's longest due deliveries, in two round trips where nobody competes. The claim itself writes the
 * attempt down (docs/behaviour.md, Events: an attempt counts from when it is taken up).
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
    .batchSize(limit + 1)
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
  const begun = claimed.flat()
  const dueAt = new Map(due.map(({ _id, claimableAt }) => [_id, claimableAt]))
  return {
    begun,
    waitedMs: begun.map(({ _id }) => now.getTime() - (dueAt.get(_id) ?? now).getTime()),
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
  // What an answer that was lost told of has been claimed, and is found by its claim: the attempts that it began are made.
  const { modifiedCount } = await answeredAtLast(() =>
    Deliveries.updateMany(
      { _id, claimableAt: trusted({ $lte: now }), ...filter },
      { $set: { claimableAt, claimedBy }, $inc: { fence: 1 }, ...(attempt && { $push: { attempts: attempt } }) },
    ).exec(),
  )
  if (modifiedCount < found.length)
    return answeredAtLast(() => Deliveries.find({ _id, claimedBy }).lean<Delivery[]>().exec())
  return found.map((delivery) => ({
    ...delivery,
    claimableAt,
    claimedBy,
    fence: delivery.fence + 1,
    attempts: attempt ? [...delivery.attempts, attempt] : delivery.attempts,
  }))
}

/** What became of the attempt that a claim began, and so of its delivery. */
export interface Settlement {
  _id: string
  appId: string
  /** Names the claim: a result whose holder has lost it changes nothing. */
  claimedBy: string
  /** The attempt's number. */
  number: number
  result: AttemptResult
  /** How long until the next attempt (machine ms), or how the delivery ended. */
  outcome: { retryInMs: number } | { ended: 'delivered' | 'dropped' }
}

/** Records results in one go. Those that are alike share one write: most answers of an endpoint are. */
export async function settleDeliveries(settlements: Settlement[], now: Date): Promise<void> {
  const groups = new Map<string, [Settlement, ...Settlement[]]>()
  for (const settlement of settlements) {
    const { claimedBy, number, result, outcome } = settlement
    const alike = JSON.stringify([claimedBy, number, result, outcome])
    const group = groups.get(alike)
    if (group) group.push(settlement)
    else groups.set(alike, [settlement])
  }
  const writes = [...groups.values()].map((group) => ({
    updateMany: {
      filter: { _id: { $in: group.map(({ _id }) => _id) }, claimedBy: group[0].claimedBy },
      update: resultOf(group[0], now),
    },
  }))
  await Deliveries.collection.bulkWrite(writes as never[], { ordered: false })
  await bringLanesForward(firstRetries(settlements, now))
}

function resultOf({ number, result, outcome }: Settlement, now: Date) {
  const attempt = Object.entries(result).map(([field, value]) => [`attempts.${number - 1}.${field}`, value])
  const $set = Object.fromEntries(attempt) as Record<string, unknown>
  if ('retryInMs' in outcome)
    return { $set: { ...$set, claimableAt: later(now, outcome.retryInMs) }, $unset: { claimedBy: 1 } }
  return {
    $set: { ...$set, state: outcome.ended, endedAt: now, expireAt: later(now, KEPT_MS) },
    $unset: { claimedBy: 1, claimableAt: 1 },
  }
}

function firstRetries(settlements: Settlement[], now: Date): Map<string, Date> {
  const first = new Map<string, Date>()
  for (const { appId, outcome } of settlements) {
    if (!('retryInMs' in outcome)) continue
    const at = later(now, outcome.retryInMs)
    const known = first.get(appId)
    if (!known || at < known) first.set(appId, at)
  }
  return first
}

const later = (now: Date, ms: number): Date => new Date(now.getTime() + ms)
