import mongoose, { type Model } from 'mongoose'
import { answeredAtLast, dueBy, trusted } from '../database.ts'
import { isSoon, LOOK_AT_LEAST_MS, wake } from '../wakeups.ts'
import { Deliveries, type Delivery } from './delivery.ts'

/**
 * When the deliveries of one app are to be looked at next. Deliveries are claimed app by app, so that 100,000 of a dead endpoint
 * are never walked to find one of another; the lanes say which apps have something due, in one small read.
 *
 * A lane is never later than the first `claimableAt` of its app, but may be earlier: whoever makes a delivery due brings the lane forward
 * afterwards, and only the claimer that found nothing more due moves it on, unless it was brought forward meanwhile (`version`). The
 * deliveries are the truth; `repairLanes` sets lanes right from them. An app's lane exists since its first delivery.
 */
export interface DeliveryLane {
  /** appId */
  _id: string
  /** Absent: nothing waits. */
  dueAt?: Date
  version: number
}

const schema = new mongoose.Schema<DeliveryLane>(
  {
    _id: { type: String, required: true },
    dueAt: Date,
    version: { type: Number, required: true, default: 0 },
  },
  { collection: 'delivery_lanes', versionKey: false },
)
schema.index({ dueAt: 1 }, { partialFilterExpression: { dueAt: { $exists: true } } })

export const DeliveryLanes: Model<DeliveryLane> = mongoose.model<DeliveryLane>('DeliveryLane', schema)

/** What one app has waiting. A range and not `$exists`: the index then skips what has ended. */
export const waitingOf = (appId: string) => ({ appId, claimableAt: trusted({ $gte: new Date(0) }) })

const firstOf = (appId: string) =>
  Deliveries.findOne(waitingOf(appId))
    .sort({ claimableAt: 1 })
    .select({ claimableAt: 1 })
    .lean<Pick<Delivery, 'claimableAt'>>()

/** Lanes that are due, the longest due first, without the apps in `except`. */
export function dueLanes({
  now,
  except,
  limit,
}: {
  now: Date
  except: string[]
  limit: number
}): Promise<DeliveryLane[]> {
  return DeliveryLanes.find({
    dueAt: dueBy(now),
    ...(except.length > 0 && { _id: trusted({ $nin: except }) }),
  })
    .sort({ dueAt: 1 })
    .limit(limit)
    .lean<DeliveryLane[]>()
}

/** When the first lane is due, where that is before `LOOK_AT_LEAST_MS` have passed. */
export async function firstDueLane({ now }: { now: Date }): Promise<Date | undefined> {
  const first = DeliveryLanes.findOne({ dueAt: dueBy(new Date(now.getTime() + LOOK_AT_LEAST_MS)) }).sort({ dueAt: 1 })
  return (await first.lean<DeliveryLane>())?.dueAt
}

/** Makes lanes due no later than the time given for each app. Call it after the deliveries were written. */
export async function bringLanesForward(dueAt: Map<string, Date>): Promise<void> {
  if (dueAt.size === 0) return
  const writes = [...dueAt].map(([appId, at]) => ({
    updateOne: { filter: { _id: appId }, update: { $min: { dueAt: at }, $inc: { version: 1 } }, upsert: true },
  }))
  await answeredAtLast(() => DeliveryLanes.bulkWrite(writes, { ordered: false }))
  if ([...dueAt.values()].some(isSoon)) wake('deliveries')
}

/** Moves a lane in which nothing more is due on to its next due time. Does nothing where it was brought forward meanwhile. */
export async function moveLaneOn({ _id, version }: DeliveryLane): Promise<void> {
  const next = await firstOf(_id)
  const update = next?.claimableAt ? { $set: { dueAt: next.claimableAt } } : { $unset: { dueAt: 1 } }
  await DeliveryLanes.updateOne({ _id, version }, { ...update, $inc: { version: 1 } })
}

/** Hastens each lane to its app's first due time: heals what a process killed between two writes left. One small read per app. */
export async function repairLanes(): Promise<void> {
  for await (const { _id, dueAt } of DeliveryLanes.find().lean<DeliveryLane[]>().cursor()) {
    const first = (await firstOf(_id))?.claimableAt
    if (first && (!dueAt || first < dueAt)) await bringLanesForward(new Map([[_id, first]]))
  }
}
