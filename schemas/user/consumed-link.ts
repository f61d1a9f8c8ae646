import mongoose, { type Model } from 'mongoose'
import { DAY } from '../../core/clock.ts'
import { dueBy, isDuplicate, trusted } from '../database.ts'
import { embedded } from '../embedded.ts'
import { type HasOutbox, outboxFields, toldOnly } from '../outbox.ts'
import { announceDue } from '../wakeups.ts'

/** A link that was used: the insert of this document is its consumption, so it happens once (docs/behaviour.md, Links). */
interface ConsumedLink extends HasOutbox {
  /** appId|jti */
  _id: string
  purpose: 'connect' | 'manage'
  /** The lease or the capture that it began; lets the same browser find it again. */
  flowId: string
  /** The user's number when it was consumed. */
  generation?: number
  consumedAt: Date
  /** Only until its flow is written down, and only where the app wants to hear of its end: by then nobody else writes it down. */
  endDueAt?: Date
  /** The flow, as long as nothing else tells of it. */
  unwritten?: UnwrittenFlow
  /** Dropped then, once its event was relayed: until then the id stays spent. Absent as long as it has to tell of its flow's end. */
  expireAt?: Date
}

/** What is known of a flow that has begun before its own document is there. */
export interface UnwrittenFlow {
  kind: 'lease' | 'capture'
  appId: string
  userId: string
  userRef: string
  provider: string
}

/** Longer than any link lasts. */
const KEPT_MS = DAY
/** When a consumed link whose end was then may be dropped. */
export const linkKeptFrom = (end: Date): Date => new Date(end.getTime() + KEPT_MS)

const schema = new mongoose.Schema<ConsumedLink>(
  {
    _id: { type: String, required: true },
    purpose: { type: String, enum: ['connect', 'manage'], required: true },
    flowId: { type: String, required: true },
    generation: Number,
    consumedAt: { type: Date, required: true },
    endDueAt: Date,
    unwritten: embedded({ kind: String, appId: String, userId: String, userRef: String, provider: String }),
    expireAt: Date,
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

/** Links that are spent, and whose flows were not written down in time. */
export const overdueLinks = ({ now, limit }: { now: Date; limit: number }): Promise<ConsumedLink[]> =>
  ConsumedLinks.find({ endDueAt: dueBy(now) })
    .limit(limit)
    .lean<ConsumedLink[]>()

/** The flow that a link began is written down, and tells of its own end. */
export async function noteFlowWritten({ linkId: _id, now }: { linkId: string; now: Date }): Promise<void> {
  await ConsumedLinks.updateOne(
    { _id, endDueAt: trusted({ $exists: true }) },
    { $set: { expireAt: linkKeptFrom(now) }, $unset: { endDueAt: 1, unwritten: 1 } },
  )
}
