import mongoose, { type Model } from 'mongoose'
import { ServiceError } from '../../core/errors.ts'
import type { Piece } from '../../core/gzip-pieces.ts'
import { trusted } from '../database.ts'
import { type Conversation, Conversations, hasReached } from './conversation.ts'
import { timeAfter, timeDigits } from './conversation-part.ts'

/**
 * The text of one version of a conversation. It lies apart from the conversation, whose document is small, since that is what is sorted,
 * counted and walked; a database that does so with documents of ten kilobytes reads all of them.
 */
interface ConversationBody {
  /** See `bodyId`. */
  _id: string
  archiveId: string
  /** The `payload` (docs/behaviour.md, Conversation) as the JSON text that the API answers (core/gzip-pieces.ts). Absent where it lies in parts. */
  payloadGzip?: Buffer
  /** The same as an earlier release stored it. */
  payload?: string
  /** The provider's own object, gzip; kept internally, never answered. Absent where it lies in parts. */
  raw?: Buffer
}

const schema = new mongoose.Schema<ConversationBody>(
  {
    _id: { type: String, required: true },
    archiveId: { type: String, required: true },
    payloadGzip: Buffer,
    payload: String,
    raw: Buffer,
  },
  { collection: 'conversation_bodies', versionKey: false },
)
schema.index({ archiveId: 1 })

export const ConversationBodies: Model<ConversationBody> = mongoose.model<ConversationBody>('ConversationBody', schema)

type Version = Pick<Conversation, '_id' | 'updateTime' | 'hash'>

/**
 * Names the body of a version by what the conversation says of itself: it is there before the conversation says so, and one write of the
 * conversation changes all that is served of it. Those of later updates sort after earlier ones.
 */
export const bodyId = ({ _id, updateTime, hash }: Version): string => `${_id}|${timeDigits(updateTime)}|${hash}`

/** What a listing needs of a conversation to read its text. */
export type ListedEntry = Version &
  Pick<Conversation, 'externalId' | 'title' | 'payload' | 'payloadParts' | 'partsVersion'>

export const LISTED = {
  externalId: 1,
  title: 1,
  updateTime: 1,
  payload: 1,
  payloadParts: 1,
  partsVersion: 1,
  hash: 1,
} as const

/** A conversation with its payload; null where that lies in parts. */
export type ListedConversation = Omit<ListedEntry, 'payload'> & { payload: Piece | null }

/** Its payload lies in parts. */
export const isLarge = ({ payload, payloadParts }: { payload?: Piece | null; payloadParts?: number }): boolean =>
  (payload ?? null) === null && typeof payloadParts === 'number'

/** A new version may be stored while the bodies of the old one are read; then the conversation is read again. */
const READ_TIMES = 5

/** Reads the payloads of conversations. One that was changed meanwhile comes as it is now, one that was deleted is left out. Throws `busy`. */
export async function readPayloads(entries: ListedEntry[]): Promise<ListedConversation[]> {
  const present = new Map(entries.map((entry) => [entry._id, entry]))
  const payloads = new Map<string, Piece>()
  for (let time = 0; time < READ_TIMES; time++) {
    const wanted = [...present.values()].filter(
      (entry) => typeof entry.payload !== 'string' && !isLarge(entry) && !payloads.has(entry._id),
    )
    if (wanted.length === 0) {
      return entries.flatMap(({ _id }) => {
        const entry = present.get(_id)
        return entry ? { ...entry, payload: entry.payload ?? payloads.get(_id) ?? null } : []
      })
    }
    const bodies = await ConversationBodies.find({ _id: trusted({ $in: wanted.map(bodyId) }) })
      .select({ payloadGzip: 1, payload: 1 })
      .lean<Pick<ConversationBody, '_id' | 'payloadGzip' | 'payload'>[]>()
    const byId = new Map(bodies.map(({ _id, payloadGzip, payload }) => [_id, payloadGzip ?? payload]))
    const changed: string[] = []
    for (const entry of wanted) {
      const payload = byId.get(bodyId(entry))
      if (payload === undefined) changed.push(entry._id)
      else payloads.set(entry._id, payload)
    }
    if (changed.length === 0) continue
    const now = await Conversations.find({ _id: trusted({ $in: changed }) })
      .select(LISTED)
      .lean<ListedEntry[]>()
    for (const id of changed) present.delete(id)
    for (const entry of now) present.set(entry._id, entry)
  }
  throw new ServiceError('busy')
}

/**
 * Deletes the bodies that writes of these versions have made needless. Once a conversation has reached a write's time, nobody can make it an
 * older version any more; before, another writer may be about to, and a later write clears up.
 */
export async function clearBodies(
  writes: { conversationId: string; updateTime: Date | null }[],
  stored: ReadonlyMap<string, Version>,
): Promise<void> {
  const deletions = writes.flatMap(({ conversationId, updateTime }) => {
    const current = stored.get(conversationId)
    if (!current || !hasReached(current, updateTime)) return []
    const older = { $gte: `${conversationId}|`, $lt: `${conversationId}|${timeAfter(updateTime)}` }
    return { deleteMany: { filter: { _id: { ...older, $ne: bodyId(current) } } } }
  })
  // The driver itself: every value here is ours.
  if (deletions.length > 0) await ConversationBodies.collection.bulkWrite(deletions as never[], { ordered: false })
}
