import type { Clock } from '../../core/clock.ts'
import { seal } from '../../core/envelope.ts'
import type { FileReference } from '../../provider/branch.ts'
import type { ProviderClient } from '../../provider/client.ts'
import { type Attachment, Attachments, attachmentId, storeAttachmentBytes } from '../../schemas/attachment.ts'
import { ATTACHMENT_PURPOSE } from '../../schemas/connection.ts'

/** A larger file is noted, not stored: it is held in memory while it is encrypted. */
export const ATTACHMENT_BYTES = 25 * 1024 * 1024
/** Files fetched after one page of conversations, so that a page of pictures does not hold up the history. */
const FILES_PER_PAGE = 50

/** Notes the files of conversations that are about to be stored; those known already stay as they are. */
export async function noteAttachments({
  archiveId,
  files,
  now,
}: {
  archiveId: string
  files: FileReference[]
  now: Date
}): Promise<void> {
  if (files.length === 0) return
  await Attachments.bulkWrite(
    files.map(({ fileId }) => ({
      updateOne: {
        filter: { _id: attachmentId({ archiveId, fileId }) },
        update: { $setOnInsert: { archiveId, fileId, state: 'waiting', foundAt: now } },
        upsert: true,
      },
    })),
    { ordered: false },
  )
}

/**
 * Fetches files that wait, encrypts and stores them; one that is gone or too large is noted as such. Answers how many it settled,
 * at most a page's worth.
 */
export async function fetchAttachments({
  archiveId,
  archiveKey,
  client,
  clock,
  isOver,
}: {
  archiveId: string
  archiveKey: Buffer
  client: ProviderClient
  clock: Clock
  isOver: () => boolean
}): Promise<number> {
  const waiting = await Attachments.find({ archiveId, state: 'waiting' }).limit(FILES_PER_PAGE).lean<Attachment[]>()
  let settled = 0
  for (const { _id: id, fileId } of waiting) {
    if (isOver()) break
    settled += 1
    const file = await client.file(fileId, { maxBytes: ATTACHMENT_BYTES })
    if (file && !file.tooLarge) {
      await storeAttachmentBytes({
        id,
        bytes: seal(archiveKey, { owner: archiveId, purpose: ATTACHMENT_PURPOSE }, file.bytes),
      })
    }
    await Attachments.updateOne({ _id: id }, { $set: { ...stateOf(file), settledAt: clock.now() } })
  }
  return settled
}

const stateOf = (file: Awaited<ReturnType<ProviderClient['file']>>): Partial<Attachment> => {
  if (!file) return { state: 'missing' }
  if (file.tooLarge) return { state: 'too-large' }
  return { state: 'stored', sizeBytes: file.bytes.length, ...(file.contentType && { contentType: file.contentType }) }
}
