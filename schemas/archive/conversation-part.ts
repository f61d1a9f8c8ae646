import mongoose, { type Model } from 'mongoose'
import { newId } from '../../core/ids.ts'
import { trusted } from '../database.ts'
import { hasReached } from './conversation.ts'

/**
 * A piece of a conversation that is larger than one document may be (16 MB): its payload's JSON text or the provider's own object,
 * cut into parts in order.
 */
interface ConversationPart {
  /** conversation id | kind | version | index */
  _id: string
  archiveId: string
  conversationId: string
  kind: 'payload' | 'raw'
  /** The conversation names the one that it lies in, which is whole before it does so; those of later updates sort after earlier ones. */
  version: string
  index: number
  /** Parts of this version. */
  count: number
  bytes: Buffer
}

/** Text up to this many bytes is one body: small enough that a page of them is read in one go. */
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

/** Sorts before every version of an update at this time or later. */
export const timeDigits = (updateTime: Date | null): string =>
  String(updateTime?.getTime() ?? 0).padStart(VERSION_DIGITS, '0')
/** Sorts after every version of an update at this time or earlier. */
export const timeAfter = (updateTime: Date | null): string => `${timeDigits(updateTime)}~`

/** A version of its own for a write of what the provider changed at this time. */
export const partsVersion = (updateTime: Date | null): string => `${timeDigits(updateTime)}-${newId()}`

/** Cuts bytes into part documents. */
export function cutParts({
  archiveId,
  conversationId,
  kind,
  bytes,
  version = partsVersion(null),
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

/** The bytes again. Null where they are not (any more): the conversation lies in another version by now, or in no parts. */
export async function readParts({
  conversationId,
  kind,
  version,
}: Pick<ConversationPart, 'conversationId' | 'kind'> & {
  /** As the conversation names it; the newest that is whole where it names none. */
  version?: string | undefined
}): Promise<Buffer | null> {
  const wanted = { conversationId, kind, ...(version !== undefined && { version }) }
  const present = await ConversationParts.find(wanted)
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

/**
 * Deletes the parts that a write has made needless, whether it came in time or too late. `stored` is the conversation as it is after
 * the write: once that has reached the write's time, nobody can make it lie in an older version any more; before, another writer may be
 * about to, and only what is the write's own goes.
 */
export async function clearParts({
  conversationId,
  version,
  updateTime,
  stored,
}: Pick<ConversationPart, 'conversationId' | 'version'> & {
  updateTime: Date | null
  stored: { updateTime: Date | null; partsVersion?: string } | undefined
}): Promise<void> {
  const reached = stored && hasReached(stored, updateTime)
  const needless = reached ? trusted({ $lt: timeAfter(updateTime), $ne: stored.partsVersion ?? null }) : version
  await ConversationParts.deleteMany({ conversationId, version: needless })
}
