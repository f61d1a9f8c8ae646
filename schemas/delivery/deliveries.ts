import { DAY } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import type { Traceparent } from '../../core/tracing.ts'
import type { EventName } from '../../wire/events.ts'
import { CLAIM_MS } from '../claims.ts'
import { answeredWithin, isDuplicate, trusted } from '../database.ts'
import { Deliveries, type Delivery } from './delivery.ts'
import { bringLanesForward } from './delivery-lane.ts'

/** docs/behaviour.md, Events: after the sixth failure the delivery is dropped. */
export const ATTEMPTS = 6
/** How long an ended delivery stays visible. */
export const KEPT_MS = 30 * DAY

/**
 * An insert that is not answered in this time (machine ms) is tried again, under the same claim: one whose answer was lost has claimed
 * the first attempts, and whoever inserted them has to make them.
 */
const INSERT_LIMIT_MS = 3_000
const INSERT_TRIES = 2

export interface NewDelivery {
  deliveryId: string
  appId: string
  event: EventName
  /** JSON text of the payload. */
  payload: string
  traceparent?: Traceparent
}

/** The body of docs/behaviour.md, Events, with the payload's text as it is: what was written down is what goes out. */
const bodyOf = ({ event, payload, deliveryId }: NewDelivery): string =>
  `{"event":${JSON.stringify(event)},"payload":${payload},"deliveryId":${JSON.stringify(deliveryId)}}`

const documentOf = (delivery: NewDelivery, now: Date): Delivery => ({
  _id: delivery.deliveryId,
  appId: delivery.appId,
  event: delivery.event,
  body: bodyOf(delivery),
  state: 'waiting',
  attempts: [],
  attemptsBefore: 0,
  createdAt: now,
  claimableAt: now,
  fence: 0,
  ...(delivery.traceparent && { traceparent: delivery.traceparent }),
})

/**
 * Writes new deliveries: those of `waiting` are due at once, those of `begun` are claimed with their first attempt already, in the
 * same write. Deliveries that exist stay as they are. Returns which of `begun` were new, and so are the caller's to attempt.
 */
export async function insertDeliveries({
  waiting,
  begun,
  now,
}: {
  waiting: NewDelivery[]
  begun: NewDelivery[]
  now: Date
}): Promise<Delivery[]> {
  if (waiting.length + begun.length === 0) return []
  const claimableAt = new Date(now.getTime() + INSERT_TRIES * INSERT_LIMIT_MS + CLAIM_MS)
  const claim = { claimedBy: newId(), claimableAt, fence: 1 }
  const claimed = begun.map((one) => ({ ...documentOf(one, now), ...claim, attempts: [{ number: 1, at: now }] }))
  const documents = [...claimed, ...waiting.map((one) => documentOf(one, now))]
  const present = await insertNew(documents)
  await bringLanesForward(
    new Map([
      ...claimed.map(({ appId, claimableAt }) => [appId, claimableAt] as const),
      ...waiting.map(({ appId }) => [appId, now] as const),
    ]),
  )
  return withClaim(claimed, { claimedBy: claim.claimedBy, present })
}

/** Inserts what does not exist yet; returns the ids of what did. A try whose answer was lost may have inserted what the next one finds. */
async function insertNew(documents: Delivery[], tries = INSERT_TRIES): Promise<Set<string>> {
  try {
    // The driver itself: documents of our own making need no casting, which would cost more than their insertion.
    await answeredWithin(INSERT_LIMIT_MS, Deliveries.collection.insertMany(documents as never[], { ordered: false }))
    return new Set()
  } catch (error) {
    const { writeErrors = [] } = error as { writeErrors?: { index: number }[] }
    if (writeErrors.length > 0 && writeErrors.every(isDuplicate))
      return new Set(writeErrors.flatMap(({ index }) => documents[index]?._id ?? []))
    if (tries === 1) throw error
    return insertNew(documents, tries - 1)
  }
}

/** Those that carry this claim: the ones that were new, and of those that were found `present` what an earlier try inserted. */
async function withClaim(
  claimed: Delivery[],
  { claimedBy, present }: { claimedBy: string; present: Set<string> },
): Promise<Delivery[]> {
  const found = claimed.filter(({ _id }) => present.has(_id))
  if (found.length === 0) return claimed
  const ids = trusted({ $in: found.map(({ _id }) => _id) })
  const carrying = await Deliveries.find({ _id: ids, claimedBy }).select({ _id: 1 }).lean<{ _id: string }[]>()
  const ours = new Set(carrying.map(({ _id }) => _id))
  return claimed.filter(({ _id }) => !present.has(_id) || ours.has(_id))
}

type Reopened = 'reopened' | 'under way' | 'unknown'

const idle = { claimedBy: trusted({ $exists: false }) }

/** An ended delivery begins six further attempts; one that waits for its next attempt keeps its count and is tried now. */
const reopening = (now: Date) => [
  {
    $set: {
      attemptsBefore: { $cond: [{ $eq: ['$state', 'waiting'] }, '$attemptsBefore', { $size: '$attempts' }] },
      state: 'waiting',
      claimableAt: now,
    },
  },
  { $unset: ['endedAt', 'expireAt'] },
]

/**
 * Replays a delivery by hand, under its deliveryId and with its bytes. `under way`: an attempt is being made now, nothing was
 * changed. Give `appId` where the one who asks belongs to an app.
 */
export async function reopenDelivery({ id, appId, now }: { id: string; appId?: string; now: Date }): Promise<Reopened> {
  const wanted = { _id: id, ...(appId !== undefined && { appId }) }
  const delivery = await Deliveries.findOneAndUpdate({ ...wanted, ...idle }, reopening(now), {
    updatePipeline: true,
    returnDocument: 'after',
  }).lean<Delivery>()
  if (!delivery) return (await Deliveries.exists(wanted)) ? 'under way' : 'unknown'
  await bringLanesForward(new Map([[delivery.appId, now]]))
  return 'reopened'
}

/** Replays all deliveries of an app that were dropped since a moment; returns how many. */
export async function reopenDropped({ appId, since, now }: { appId: string; since: Date; now: Date }): Promise<number> {
  const { modifiedCount } = await Deliveries.updateMany(
    { appId, state: 'dropped', endedAt: trusted({ $gte: since }) },
    reopening(now),
    { updatePipeline: true },
  )
  if (modifiedCount > 0) await bringLanesForward(new Map([[appId, now]]))
  return modifiedCount
}
