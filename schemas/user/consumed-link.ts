import mongoose, { type Model } from 'mongoose'
import { isDuplicate } from '../database.ts'
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
    expireAt: { type: Date, required: true },
    ...outboxFields,
  },
  { collection: 'consumed_links', versionKey: false },
)
announceDue(schema, { outboxAt: 'outboxes' })
schema.index({ expireAt: 1 }, toldOnly({ name: 'expired_and_told', afterSeconds: 0 }))
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
