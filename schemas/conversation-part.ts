import mongoose, { type Model } from 'mongoose'
import { newId } from '../core/ids.ts'

/**
 * A piece of a conversation that is larger than one document may be (16 MB): its payload's JSON text or the provider's own object,
 * cut into parts in order.
 */
export interface ConversationPart {
  /** conversation id | kind | version | index */
  _id: string
  archiveId: string
  conversationId: string
  kind: 'payload' | 'raw'
  /** Later ones sort after earlier ones. A new version is whole before the old one goes, so a reader always finds one. */
  version: string
  index: number
  /** Parts of this version. */
  count: number
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
    version: { type: String, required: true },
    index: { type: Number, required: true },
    count: { type: Number, required: true },
    bytes: { type: Buffer, required: true },
  },
  { collection: 'conversation_parts', versionKey: false },
)
schema.index({ archiveId: 1 })
schema.index({ conversationId: 1, kind: 1, version: -1, index: 1 })

export const ConversationParts: Model<ConversationPart> = mongoose.model<ConversationPart>('ConversationPart', schema)

const VERSION_DIGITS = 15

/** The version of what is stored at a moment. */
export const partsVersion = (now: Date): string => `${String(now.getTime()).padStart(VERSION_DIGITS, '0')}-${newId()}`

/** Cuts bytes into part documents. */
export function cutParts({
  archiveId,
  conversationId,
  kind,
  bytes,
  version = partsVersion(new Date(0)),
}: Pick<ConversationPart, 'archiveId' | 'conversationId' | 'kind' | 'bytes'> & {
  version?: string
}): ConversationPart[] {
  const count = Math.ceil(bytes.length / PART_BYTES)
  return Array.from({ length: count }, (_, index) => ({
    _id: `${conversationId}|${kind}|${version}|${index}`,
    archiveId,
    conversationId,
    kind,
    version,
    index,
    count,
    bytes: bytes.subarray(index * PART_BYTES, (index + 1) * PART_BYTES),
  }))
}

/** The bytes again: of the newest version that is whole. Null where there is none, because the conversation lies in parts no longer. */
export async function readParts({
  conversationId,
  kind,
}: Pick<ConversationPart, 'conversationId' | 'kind'>): Promise<Buffer | null> {
  const present = await ConversationParts.find({ conversationId, kind })
    .sort({ version: -1, index: 1 })
    .select({ version: 1, count: 1 })
    .lean<Pick<ConversationPart, 'version' | 'count'>[]>()
  const whole = present.find(
    ({ version, count }) => present.filter((part) => part.version === version).length === count,
  )
  if (!whole) return null
  const parts = await ConversationParts.find({ conversationId, kind, version: whole.version })
    .sort({ index: 1 })
    .lean<ConversationPart[]>()
  return parts.length === whole.count ? Buffer.concat(parts.map(({ bytes }) => bytes)) : null
}
