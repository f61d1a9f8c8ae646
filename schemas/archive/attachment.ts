import { pipeline } from 'node:stream/promises'
import mongoose, { type Model } from 'mongoose'
import { trusted } from '../database.ts'
import { fileBucket } from './file-bucket.ts'

/**
 * One file that messages of an archive refer to (docs/behaviour.md, Message): stored encrypted, never answered by the API. Found first,
 * fetched afterwards, so that a crash in between forgets none; each file once, however many messages carry it.
 */
export interface Attachment {
  /** archiveId|fileId */
  _id: string
  archiveId: string
  /** The provider's id. */
  fileId: string
  /** `missing`: the provider says that it is gone. `given-up`: it neither served it nor said so, for long. */
  state: 'waiting' | 'stored' | 'missing' | 'too-large' | 'given-up'
  /** Bytes before encryption. */
  sizeBytes?: number
  contentType?: string
  foundAt: Date
  settledAt?: Date
  /** Syncs that could not fetch it, since when, and the last one of them: the next tries again. */
  failures?: number
  failingSince?: Date
  failedRunId?: string
}

const schema = new mongoose.Schema<Attachment>(
  {
    _id: { type: String, required: true },
    archiveId: { type: String, required: true },
    fileId: { type: String, required: true },
    state: { type: String, enum: ['waiting', 'stored', 'missing', 'too-large', 'given-up'], required: true },
    sizeBytes: Number,
    contentType: String,
    foundAt: { type: Date, required: true },
    settledAt: Date,
    failures: Number,
    failingSince: Date,
    failedRunId: String,
  },
  { collection: 'attachments', versionKey: false },
)
schema.index({ archiveId: 1, state: 1 })

export const Attachments: Model<Attachment> = mongoose.model<Attachment>('Attachment', schema)

export const attachmentId = ({ archiveId, fileId }: { archiveId: string; fileId: string }): string =>
  `${archiveId}|${fileId}`

const bucket = fileBucket('attachment_files')

/** Stores a file's (encrypted) bytes under the attachment's id; what an interrupted attempt left is replaced. */
export async function storeAttachmentBytes({ id, bytes }: { id: string; bytes: Buffer }): Promise<void> {
  await bucket.remove(id)
  await pipeline([bytes], bucket.upload(id))
}

/** Files that are deleted in one statement: each may have 25 MiB. */
const DELETED_AT_ONCE = 20

/** Deletes every file of an archive, whole or interrupted, in batches. Throws the signal's reason between two batches. */
export async function deleteAttachments({
  archiveId,
  signal,
}: {
  archiveId: string
  signal?: AbortSignal
}): Promise<void> {
  for (;;) {
    signal?.throwIfAborted()
    const found = await Attachments.find({ archiveId }).select({ _id: 1 }).limit(DELETED_AT_ONCE).lean()
    if (found.length === 0) break
    const ids = found.map(({ _id }) => _id)
    await bucket.remove({ $in: ids })
    await Attachments.deleteMany({ _id: trusted({ $in: ids }) })
  }
  // Ids begin with `archiveId|`: one range of the index, which finds the pieces of interrupted uploads too.
  await bucket.remove({ $gte: `${archiveId}|`, $lt: `${archiveId}}` })
}
