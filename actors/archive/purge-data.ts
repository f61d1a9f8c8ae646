import type { Model } from 'mongoose'
import { deleteAttachments } from '../../schemas/archive/attachment.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { ConversationBodies } from '../../schemas/archive/conversation-body.ts'
import { ConversationParts } from '../../schemas/archive/conversation-part.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'

/** Deleted in one statement: whatever the size of an archive, none takes long. A part may have 8 MiB. */
const CONVERSATIONS_AT_ONCE = 1_000
const PARTS_AT_ONCE = 20

/**
 * Deletes every conversation, body, part and file of an archive, in batches; doing it again is harmless. Returns how many conversations went.
 * Throws the signal's reason between two batches.
 */
export async function deleteArchive({
  archiveId,
  signal,
}: {
  archiveId: string
  signal?: AbortSignal
}): Promise<number> {
  await deleteAttachments({ archiveId, ...(signal && { signal }) })
  // Before their texts, as they are written after them: whoever listed it before finds a conversation gone, never one without its text.
  const deleted = await inBatches(Conversations, { archiveId, atOnce: CONVERSATIONS_AT_ONCE, signal })
  await inBatches(ConversationBodies, { archiveId, atOnce: CONVERSATIONS_AT_ONCE, signal })
  await inBatches(ConversationParts, { archiveId, atOnce: PARTS_AT_ONCE, signal })
  return deleted
}

async function inBatches<T extends { _id: string; archiveId: string }>(
  model: Model<T>,
  { archiveId, atOnce, signal }: { archiveId: string; atOnce: number; signal: AbortSignal | undefined },
): Promise<number> {
  for (let deleted = 0; ; ) {
    signal?.throwIfAborted()
    const found = await model.find({ archiveId }).select({ _id: 1 }).limit(atOnce).lean<{ _id: string }[]>()
    if (found.length === 0) return deleted
    const { deletedCount } = await model.deleteMany({ _id: trusted({ $in: found.map(({ _id }) => _id) }) })
    deleted += deletedCount
  }
}

/**
 * A writer that lost its claim to a purge deletes what it may have stored after the purge deleted. What the purge has still to count is
 * left to it: it has not deleted anything by then.
 */
export async function leaveNothingBehind({
  accountId,
  archiveId,
}: Pick<Connection, 'accountId' | 'archiveId'>): Promise<void> {
  if (!archiveId) return
  // Not the writer's own connection alone: a successor that it was folded into may have been purged.
  const counted = { 'purge.archiveId': archiveId, 'purge.conversationsDeleted': trusted({ $exists: true }) }
  if (await Connections.exists({ accountId, ...counted })) await deleteArchive({ archiveId })
}
