import type { Collection } from 'mongoose'
import { deriveId } from '../../core/ids.ts'
import { type Conversation, Conversations } from '../../schemas/archive/conversation.ts'
import { bodyId, ConversationBodies, clearBodies } from '../../schemas/archive/conversation-body.ts'
import { ConversationParts, clearParts, cutParts, partsVersion } from '../../schemas/archive/conversation-part.ts'
import { isExternalId } from '../../schemas/archive/external-id.ts'
import { trusted } from '../../schemas/database.ts'
import { noteAttachments } from './attachments.ts'
import { later, type Prepared } from './prepare.ts'
import { isRivalled } from './rival.ts'

/** What decides about a conversation that is stored already. */
export type Stored = Pick<
  Conversation,
  '_id' | 'externalId' | 'updateTime' | 'hash' | 'runId' | 'change' | 'partsVersion'
>

/** What is stored of these conversations, by external id. */
export async function storedOf({
  archiveId,
  externalIds,
}: {
  archiveId: string
  externalIds: string[]
}): Promise<Map<string, Stored>> {
  const ids = externalIds.filter(isExternalId)
  if (ids.length === 0) return new Map()
  const found = await Conversations.find({ archiveId, externalId: trusted({ $in: ids }) })
    .select({ externalId: 1, updateTime: 1, hash: 1, runId: 1, change: 1, partsVersion: 1 })
    .lean<Stored[]>()
  return new Map(found.map((stored) => [stored.externalId, stored]))
}

/** True when the provider's version is newer than the stored one, or there is none: only forward (docs/architecture.md, idea 8). */
export const isNewer = (stored: Pick<Stored, 'updateTime'> | undefined, updateTime: Date | null): boolean =>
  !stored || (updateTime !== null && (stored.updateTime === null || updateTime > stored.updateTime))

/** A run touches a conversation once in its report: what it first did stays, and a touch may become a change. */
const changeOf = (stored: Stored, runId: string, hash: string): Conversation['change'] => {
  const change = stored.hash === hash ? 'unchanged' : 'updated'
  return stored.runId === runId && stored.change !== 'unchanged' ? stored.change : change
}

/** An export may hold a conversation twice, and anything for an id: what cannot be stored under its id holds up nothing. */
function newestOfEach(conversations: Prepared[]): Prepared[] {
  const byId = new Map<string, Prepared>()
  for (const prepared of conversations.filter(({ externalId }) => isExternalId(externalId))) {
    const other = byId.get(prepared.externalId)?.fields
    const { updateTime } = prepared.fields
    if (!other || later(updateTime, other.updateTime) === updateTime) byId.set(prepared.externalId, prepared)
  }
  return [...byId.values()]
}

interface StoreOptions {
  archiveId: string
  runId: string
  conversations: Prepared[]
  /** What is stored of them. */
  stored: ReadonlyMap<string, Stored>
  now: Date
}

/**
 * Stores conversations of one archive: new ones are inserted, newer ones updated in place (same id), older ones left alone.
 * Every write carries the run, from which its counts are told later. Running it again changes nothing. One whose id is too long to be
 * one is left out. Returns how many were written, and how many this run found stored already, as they are or newer, and so did not write.
 */
export async function storeConversations({
  archiveId,
  runId,
  conversations,
  stored,
  now,
}: StoreOptions): Promise<{ written: number; untouched: number }> {
  let untouched = 0
  const operations: object[] = []
  const bodies: object[] = []
  const writes: VersionWrite[] = []
  for (const { externalId, fields, body, oversize } of newestOfEach(conversations)) {
    const earlier = stored.get(externalId)
    if (!isNewer(earlier, fields.updateTime)) {
      if (earlier?.runId !== runId) untouched += 1
      continue
    }
    // Derived, so that a run that is taken up after a crash writes over what the crash left unfinished.
    const id = earlier?._id ?? deriveId('conversation', archiveId, externalId)
    const version = partsVersion(fields.updateTime)
    const named: Partial<Conversation> = oversize.length > 0 ? { partsVersion: version } : {}
    for (const { kind, bytes } of oversize) {
      const parts = cutParts({ archiveId, conversationId: id, kind, bytes, version })
      for (const part of parts) await ConversationParts.replaceOne({ _id: part._id }, part, { upsert: true })
      named[`${kind}Parts`] = parts.length
    }
    bodies.push({ insertOne: { document: { _id: bodyId({ _id: id, ...fields }), archiveId, ...body } } })
    const inParts = oversize.length > 0 || earlier?.partsVersion !== undefined
    writes.push({ conversationId: id, version, updateTime: fields.updateTime, isNew: !earlier, inParts })
    const document = { ...fields, ...named, runId, storedAt: now }
    operations.push(
      earlier
        ? {
            updateOne: {
              filter: { _id: id, updateTime: earlier.updateTime },
              update: { $set: { ...document, change: changeOf(earlier, runId, fields.hash) }, ...gone(document) },
            },
          }
        : { insertOne: { document: { _id: id, archiveId, externalId, ...document, change: 'inserted' } } },
    )
  }
  await noteAttachments({ archiveId, files: conversations.flatMap(({ files }) => files), now })
  if (operations.length === 0) return { written: 0, untouched }
  // One that is there already was brought by an earlier try, or a rival: the same version has the same text.
  await write(ConversationBodies.collection, bodies)
  const rivalled = await write(Conversations.collection, operations)
  await clear(writes.filter(({ isNew, inParts }) => !isNew || inParts || rivalled))
  return { written: operations.length, untouched }
}

/** A write of one version of a conversation. */
interface VersionWrite {
  conversationId: string
  version: string
  updateTime: Date | null
  /** There was no earlier version. */
  isNew: boolean
  /** It lies in parts, or did before. */
  inParts: boolean
}

/** Deletes what those writes replaced, and what they brought where a rival's write came first. */
async function clear(writes: VersionWrite[]): Promise<void> {
  if (writes.length === 0) return
  const found = await Conversations.find({ _id: trusted({ $in: writes.map(({ conversationId }) => conversationId) }) })
    .select({ updateTime: 1, hash: 1, partsVersion: 1 })
    .lean<Pick<Conversation, '_id' | 'updateTime' | 'hash' | 'partsVersion'>[]>()
  const stored = new Map(found.map((conversation) => [conversation._id, conversation]))
  await clearBodies(writes, stored)
  for (const write of writes)
    if (write.inParts) await clearParts({ ...write, stored: stored.get(write.conversationId) })
}

/** What an earlier version may have and this one has not; an earlier release kept the text in the conversation itself. */
const gone = (document: Partial<Conversation>) => {
  const fields = (['rawParts', 'payloadParts', 'partsVersion'] as const).filter((name) => document[name] === undefined)
  return { $unset: Object.fromEntries(['payload', 'raw', ...fields].map((name) => [name, ''])) }
}

/** The driver itself: documents of our own making need no casting. */
const write = (collection: Collection, operations: object[]): Promise<boolean> =>
  isRivalled(collection.bulkWrite(operations as never[], { ordered: false }))
