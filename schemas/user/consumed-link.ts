import mongoose, { type Model } from 'mongoose'
import { dueBy, isDuplicate, trusted } from '../database.ts'
import { type HasOutbox, type OutboxEntry, outboxFields, toldOnly, withEvents } from '../outbox.ts'
import { announceDue } from '../wakeups.ts'

/** A link that was used: the insert of this document is its consumption, so it happens once (docs/behaviour.md, Links). */
export interface ConsumedLink extends HasOutbox {
  /** appId|jti */
  _id: string
  purpose: 'connect' | 'manage'
  /** The lease or the capture that it began; lets the same browser find it again. */
  flowId: string
  /** The user's number when it was consumed. */
  generation?: number
  consumedAt: Date
  /**
   * Only until its flow is written down, and only where the app wants to hear of its end: nothing can come of the flow any more by then, and
   * nobody else would tell.
   */
  endDueAt?: Date
  /** Whose flow it is, as long as that may have to be told. */
  userId?: string
  /** Dropped a day after the link itself ended, or once its event was relayed: until then the id stays spent. */
  expireAt: Date
}

const schema = new mongoose.Schema<ConsumedLink>(
  {
    _id: { type: String, required: true },
    purpose: { type: String, enum: ['connect', 'manage'], required: true },
    flowId: { type: String, required: true },
    generation: Number,
    consumedAt: { type: Date, required: true },
    endDueAt: Date,
    userId: String,
    expireAt: { type: Date, required: true },
    ...outboxFields,
  },
  { collection: 'consumed_links', versionKey: false },
)
announceDue(schema, { outboxAt: 'outboxes' })
schema.index({ expireAt: 1 }, toldOnly({ name: 'expired_and_told', afterSeconds: 0 }))
schema.index({ endDueAt: 1 }, { partialFilterExpression: { endDueAt: { $exists: true } } })
schema.index({ outboxAt: 1 }, { partialFilterExpression: { outboxAt: { $exists: true } } })

export const ConsumedLinks: Model<ConsumedLink> = mongoose.model<ConsumedLink>('ConsumedLink', schema)

export const linkId = ({ appId, jti }: { appId: string; jti: string }): string => `${appId}|${jti}`

/** Consumes a link with one insert; the earlier consumption where there is one. */
export async function consumeLink(link: ConsumedLink): Promise<{ first: boolean; link: ConsumedLink }> {
  try {
    await ConsumedLinks.create(link)
    return { first: true, link }
  } catch (error) {
    if (!isDuplicate(error)) throw error
    const earlier = await ConsumedLinks.findById(link._id).lean<ConsumedLink>()
    return { first: false, link: earlier ?? link }
  }
}

/** The flow that a link began is written down, and tells of its own end. */
export async function noteFlowWritten({ linkId: _id }: { linkId: string }): Promise<void> {
  await ConsumedLinks.updateOne({ _id }, { $unset: { endDueAt: 1, userId: 1 } })
}

/** Links that are spent, and whose flows were not written down in time. */
export const overdueLinks = ({ now, limit }: { now: Date; limit: number }): Promise<ConsumedLink[]> =>
  ConsumedLinks.find({ endDueAt: dueBy(now) })
    .limit(limit)
    .lean<ConsumedLink[]>()

/** Nothing more is waited for; `events` tell of it. */
export async function settleLink({
  _id,
  events,
  now,
}: {
  _id: string
  events: OutboxEntry[]
  now: Date
}): Promise<void> {
  const update = { $unset: { endDueAt: 1, userId: 1 } }
  await ConsumedLinks.updateOne({ _id, endDueAt: trusted({ $exists: true }) }, withEvents(update, events, now))
}
