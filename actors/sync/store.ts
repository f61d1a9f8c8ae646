import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { newId } from '../../core/ids.ts'
import type { ExtractedConversation } from '../../provider/branch.ts'
import { type Conversation, Conversations } from '../../schemas/conversation.ts'
import { ConversationParts, cutParts, INLINE_BYTES } from '../../schemas/conversation-part.ts'
import { trusted } from '../../schemas/database.ts'
import { noteAttachments } from './attachments.ts'

const compress = promisify(gzip)

/** One conversation as read from the provider or an export, beside the provider's own object. */
export interface Incoming {
  extracted: ExtractedConversation
  raw: unknown
  /** The list's word on its last change, where it is newer than the body's. */
  listedUpdateTime?: Date | null
}

type Stored = Pick<Conversation, '_id' | 'externalId' | 'updateTime' | 'hash' | 'runId' | 'change'>

/** What is stored of these conversations, by external id. */
export async function storedOf({
  archiveId,
  externalIds,
}: {
  archiveId: string
  externalIds: string[]
}): Promise<Map<string, Stored>> {
  const found = await Conversations.find({ archiveId, externalId: trusted({ $in: externalIds }) })
    .select({ externalId: 1, updateTime: 1, hash: 1, runId: 1, change: 1 })
    .lean<Stored[]>()
  return new Map(found.map((stored) => [stored.externalId, stored]))
}

const later = (a: Date | null, b: Date | null): Date | null => (!a ? b : !b ? a : a > b ? a : b)

/** True when the provider's version is newer than the stored one, or there is none: only forward (DESIGN.md idea 8). */
export const isNewer = (stored: Pick<Stored, 'updateTime'> | undefined, updateTime: Date | null): boolean =>
  !stored || (updateTime !== null && (stored.updateTime === null || updateTime > stored.updateTime))

interface Prepared {
  id: string
  set: Omit<Conversation, '_id' | 'archiveId' | 'externalId' | 'runId' | 'change'>
  oversize: { kind: 'payload' | 'raw'; bytes: Buffer }[]
}

async function prepare({ incoming, id, now }: { incoming: Incoming; id: string; now: Date }): Promise<Prepared> {
  const { extracted, raw, listedUpdateTime } = incoming
  const payload = JSON.stringify({ title: extracted.title, messages: extracted.messages })
  const rawBytes = await compress(JSON.stringify(raw))
  const oversize: Prepared['oversize'] = []
  const payloadBytes = Buffer.byteLength(payload)
  if (payloadBytes > INLINE_BYTES) oversize.push({ kind: 'payload', bytes: Buffer.from(payload) })
  if (rawBytes.length > INLINE_BYTES) oversize.push({ kind: 'raw', bytes: rawBytes })
  return {
    id,
    oversize,
    set: {
      title: extracted.title,
      updateTime: later(extracted.updateTime, listedUpdateTime ?? null),
      firstMessageAt: extracted.firstMessageAt,
      payload: payloadBytes > INLINE_BYTES ? null : payload,
      hash: createHash('sha256').update(payload).digest('base64'),
      ...(rawBytes.length > INLINE_BYTES ? {} : { raw: rawBytes }),
      storedAt: now,
    },
  }
}

/** A run touches a conversation once in its report: what it first did stays, and a touch may become a change. */
const changeOf = (stored: Stored, runId: string, hash: string): Conversation['change'] => {
  const change = stored.hash === hash ? 'unchanged' : 'updated'
  return stored.runId === runId && stored.change !== 'unchanged' ? stored.change : change
}

/** An export may hold a conversation twice. */
function newestOfEach(conversations: Incoming[]): Incoming[] {
  const byId = new Map<string, Incoming>()
  for (const incoming of conversations) {
    const { externalId, updateTime } = incoming.extracted
    const other = byId.get(externalId)?.extracted
    if (!other || later(updateTime, other.updateTime) === updateTime) byId.set(externalId, incoming)
  }
  return [...byId.values()]
}

/**
 * Stores conversations of one archive: new ones are inserted, newer ones updated in place (same id), older ones left alone.
 * Every write carries the run, from which its counts are told later. Running it again changes nothing. Answers how many this run
 * found stored already, as they are or newer, and so did not write.
 */
export async function storeConversations({
  archiveId,
  runId,
  conversations,
  now,
}: {
  archiveId: string
  runId: string
  conversations: Incoming[]
  now: Date
}): Promise<{ untouched: number }> {
  let untouched = 0
  if (conversations.length === 0) return { untouched }
  const newest = newestOfEach(conversations)
  const externalIds = newest.map(({ extracted }) => extracted.externalId)
  const stored = await storedOf({ archiveId, externalIds })
  const operations: unknown[] = []
  for (const incoming of newest) {
    const { externalId } = incoming.extracted
    const earlier = stored.get(externalId)
    const { id, set, oversize } = await prepare({ incoming, id: earlier?._id ?? newId(), now })
    if (!isNewer(earlier, set.updateTime)) {
      if (earlier?.runId !== runId) untouched += 1
      continue
    }
    const parts = oversize.map(({ kind, bytes }) => cutParts({ archiveId, conversationId: id, kind, bytes }))
    for (const documents of parts) await replaceParts(documents)
    const counts = Object.fromEntries(oversize.map(({ kind }, index) => [`${kind}Parts`, parts[index]?.length ?? 0]))
    const absent = { ...(set.raw ? { rawParts: 1 } : { raw: 1 }), ...(set.payload === null ? {} : { payloadParts: 1 }) }
    operations.push({
      updateOne: earlier
        ? {
            filter: { _id: id, updateTime: earlier.updateTime },
            update: { $set: { ...set, ...counts, runId, change: changeOf(earlier, runId, set.hash) }, $unset: absent },
          }
        : {
            filter: { archiveId, externalId },
            update: { $setOnInsert: { _id: id, ...set, ...counts, runId, change: 'inserted' } },
            upsert: true,
          },
    })
  }
  await noteAttachments({ archiveId, files: conversations.flatMap(({ extracted }) => extracted.files), now })
  if (operations.length > 0)
    await Conversations.bulkWrite(operations as Parameters<typeof Conversations.bulkWrite>[0], { ordered: false })
  return { untouched }
}

async function replaceParts(parts: ReturnType<typeof cutParts>): Promise<void> {
  for (const part of parts) await ConversationParts.replaceOne({ _id: part._id }, part, { upsert: true })
}
