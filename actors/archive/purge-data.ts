import { deleteAttachments } from '../../schemas/archive/attachment.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { ConversationParts } from '../../schemas/archive/conversation-part.ts'
import { BrowserProfiles } from '../../schemas/connection/browser-profile.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'

/** Deletes every conversation, part and file of an archive; doing it again is harmless. Returns how many conversations went. */
export async function deleteArchive({ archiveId }: { archiveId: string }): Promise<number> {
  await deleteAttachments({ archiveId })
  await ConversationParts.deleteMany({ archiveId })
  const { deletedCount } = await Conversations.deleteMany({ archiveId })
  return deletedCount
}

/** Deletes what the hosted browser of a connection remembered. */
export async function deleteBrowserProfile({ connectionId }: { connectionId: string }): Promise<void> {
  await BrowserProfiles.deleteOne({ _id: connectionId })
}

/** A writer that lost its claim to a purge deletes what it may have stored after the purge looked. */
export async function leaveNothingBehind({ _id, archiveId }: Pick<Connection, '_id' | 'archiveId'>): Promise<void> {
  if (!archiveId) return
  const connection = await Connections.findById(_id).lean<Connection>()
  if (connection?.purge?.archiveId === archiveId) await deleteArchive({ archiveId })
}
