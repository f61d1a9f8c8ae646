import mongoose, { type Model } from 'mongoose'

/**
 * A piece of a conversation that is larger than one document may be (16 MB): its payload's JSON text or the provider's own object,
 * cut into parts in order.
 */
export interface ConversationPart {
  /** conversation id | kind | index */
  _id: string
  archiveId: string
  conversationId: string
  kind: 'payload' | 'raw'
  index: number
  bytes: Buffer
}

/** Text up to this many bytes stays in the conversation itself: small enough that a page of them is read in one go. */
export const INLINE_BYTES = 1024 * 1024
/** Bytes of one part: far enough from the 16 MB bound of a document. */
export const PART_BYTES = 8 * 1024 * 1024

const schema = new mongoose.Schema<ConversationPart>(
  {
    _id: { type: String, required: true },
    archiveId: { type: String, required: true },
    conversationId: { type: String, required: true },
    kind: { type: String, enum: ['payload', 'raw'], required: true },
    index: { type: Number, required: true },
    bytes: { type: Buffer, required: true },
  },
  { collection: 'conversation_parts', versionKey: false },
)
schema.index({ archiveId: 1 })
schema.index({ conversationId: 1, kind: 1, index: 1 })

export const ConversationParts: Model<ConversationPart> = mongoose.model<ConversationPart>('ConversationPart', schema)

/** Cuts bytes into part documents. */
export function cutParts({
  archiveId,
  conversationId,
  kind,
  bytes,
}: Pick<ConversationPart, 'archiveId' | 'conversationId' | 'kind' | 'bytes'>): ConversationPart[] {
  return Array.from({ length: Math.ceil(bytes.length / PART_BYTES) }, (_, index) => ({
    _id: `${conversationId}|${kind}|${index}`,
    archiveId,
    conversationId,
    kind,
    index,
    bytes: bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES),
  }))
}

/** The bytes again, from `count` parts; null when a part is missing because a newer version is being stored. */
export async function readParts({
  conversationId,
  kind,
  count,
}: Pick<ConversationPart, 'conversationId' | 'kind'> & { count: number }): Promise<Buffer | null> {
  const parts = await ConversationParts.find({ conversationId, kind })
    .sort({ index: 1 })
    .limit(count)
    .lean<ConversationPart[]>()
  return parts.length === count ? Buffer.concat(parts.map(({ bytes }) => bytes)) : null
}
