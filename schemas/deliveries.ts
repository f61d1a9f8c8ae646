import { DAY } from '../core/clock.ts'
import { isDuplicate, trusted } from './database.ts'
import { Deliveries, type Delivery } from './delivery.ts'
import { hastenLanes } from './delivery-lane.ts'
import type { EventName } from './events.ts'

/** SPEC.md, Events: after the sixth failure the delivery is dropped. */
export const ATTEMPTS = 6
/** How long an ended delivery stays visible. */
export const KEPT_MS = 30 * DAY

export interface NewDelivery {
  deliveryId: string
  appId: string
  event: EventName
  /** JSON text of the payload. */
  payload: string
}

/** The body of SPEC.md, Events, with the payload's text as it is: what was written down is what goes out. */
const bodyOf = ({ event, payload, deliveryId }: NewDelivery): string =>
  `{"event":${JSON.stringify(event)},"payload":${payload},"deliveryId":${JSON.stringify(deliveryId)}}`

/** True where every error of an unordered insert is that the document is there already. */
const onlyDuplicates = (error: unknown): boolean => {
  const errors =
    typeof error === 'object' && error !== null && 'writeErrors' in error ? [error.writeErrors].flat() : [error]
  return errors.length > 0 && errors.every(isDuplicate)
}

/** Writes deliveries that are due at once; those that exist already stay as they are. */
export async function insertDeliveries(list: NewDelivery[], now: Date): Promise<void> {
  if (list.length === 0) return
  const documents: Delivery[] = list.map((delivery) => ({
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
  }))
  // The driver itself: documents of our own making need no casting, which would cost more than their insertion.
  await Deliveries.collection.insertMany(documents as never[], { ordered: false }).catch((error: unknown) => {
    if (!onlyDuplicates(error)) throw error
  })
  await hastenLanes(new Map(list.map(({ appId }) => [appId, now])))
}

export type Reopened = 'reopened' | 'under way' | 'unknown'

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
  await hastenLanes(new Map([[delivery.appId, now]]))
  return 'reopened'
}

/** Replays all deliveries of an app that were dropped since a moment; answers how many. */
export async function reopenDropped({ appId, since, now }: { appId: string; since: Date; now: Date }): Promise<number> {
  const { modifiedCount } = await Deliveries.updateMany(
    { appId, state: 'dropped', endedAt: trusted({ $gte: since }) },
    reopening(now),
    { updatePipeline: true },
  )
  if (modifiedCount > 0) await hastenLanes(new Map([[appId, now]]))
  return modifiedCount
}
