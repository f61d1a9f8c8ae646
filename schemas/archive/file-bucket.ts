import type { Readable, Writable } from 'node:stream'
import mongoose from 'mongoose'
import { connectedDatabase } from '../database.ts'

/** Files of one kind in GridFS, under ids of our own. */
interface FileBucket<Metadata extends object> {
  upload(id: string, metadata?: Metadata): Writable
  /** Ends with an error where there is no such file. */
  download(id: string): Readable
  /** What is known of files that are whole. */
  files(): mongoose.mongo.Collection<StoredFile<Metadata>>
  /** Pieces, those of interrupted uploads too. */
  chunks(): mongoose.mongo.Collection<FileChunk>
  /** Deletes one file, some, or a range of ids; what an interrupted upload left goes too. */
  remove(ids: string | { $in: string[] } | { $gte: string; $lt: string }): Promise<void>
}

interface StoredFile<Metadata> {
  _id: string
  metadata: Metadata
}

interface FileChunk {
  _id: mongoose.Types.ObjectId
  files_id: string
  n: number
}

export function fileBucket<Metadata extends object = object>(bucketName: string): FileBucket<Metadata> {
  const bucket = () => new mongoose.mongo.GridFSBucket(connectedDatabase(), { bucketName })
  const files = () => connectedDatabase().collection<StoredFile<Metadata>>(`${bucketName}.files`)
  const chunks = () => connectedDatabase().collection<FileChunk>(`${bucketName}.chunks`)
  return {
    // The driver's types know its own ids only; any value is one.
    upload: (id, metadata) =>
      bucket().openUploadStreamWithId(
        id as never,
        id,
        metadata ? { metadata: metadata as mongoose.mongo.Document } : {},
      ),
    download: (id) => bucket().openDownloadStream(id as never),
    files,
    chunks,
    remove: async (ids) => {
      // The key that a file's own entry may hold goes first; pieces are found without it.
      await files().deleteMany({ _id: ids } as mongoose.mongo.Filter<StoredFile<Metadata>>)
      await chunks().deleteMany({ files_id: ids })
    },
  }
}
