import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import mongoose from 'mongoose'
import { SECOND } from '../../core/clock.ts'
import { associatedData, type Keyring, type WrappedKey } from '../../core/envelope.ts'
import { ServiceError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { Commands } from '../command/command.ts'
import { trusted } from '../database.ts'
import { fileBucket } from './file-bucket.ts'

/**
 * An account export between its upload and its ingestion: it lies in GridFS, encrypted with a key of its own, so that either process
 * may die and the ingestion goes on; it is deleted when that ends.
 */
interface UploadMetadata {
  connectionId: string
  key: WrappedKey
  iv: Buffer
  /** What its associated data is; absent in uploads of earlier releases, which were bound to their file's id alone. */
  version?: typeof VERSION
  /** Set when the upload is whole: an interrupted one never opens. */
  tag?: Buffer
}

const VERSION = 1
const ALGORITHM = 'aes-256-gcm'
const IV_BYTES = 12
const TAG = { authTagLength: 16 }

const bucket = fileBucket<UploadMetadata>('exports')
const boundTo = (connectionId: string): Buffer => associatedData({ owner: connectionId, purpose: 'export-upload' })

/** Throws `body_too_large` as soon as more than `maxBytes` have come. */
function bounded(maxBytes: number, limit: string): Transform {
  let bytes = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      if (bytes > maxBytes) done(new ServiceError('body_too_large', { limit }))
      else done(null, chunk)
    },
  })
}

/** Stores an upload as it comes in, in constant memory; returns its id. Nothing is left of one that fails. */
export async function storeExportUpload({
  connectionId,
  stream,
  maxBytes,
  limit,
  keyring,
}: {
  connectionId: string
  stream: Readable
  maxBytes: number
  /** `maxBytes` in words, for the error. */
  limit: string
  keyring: Keyring
}): Promise<{ fileId: string }> {
  const fileId = newId()
  const { key, wrapped } = keyring.newDataKey()
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, iv, TAG).setAAD(boundTo(connectionId))
  const metadata: UploadMetadata = { connectionId, key: wrapped, iv, version: VERSION }
  try {
    await pipeline(stream, bounded(maxBytes, limit), cipher, bucket.upload(fileId, metadata))
    await bucket.files().updateOne({ _id: fileId }, { $set: { 'metadata.tag': cipher.getAuthTag() } })
  } catch (error) {
    await deleteExportUpload({ fileId }).catch(() => undefined)
    throw error
  }
  return { fileId }
}

/**
 * Decrypts an upload into a temporary file that has no name: only this process can read it, and it goes with the process, however that
 * ends.
 */
export async function withExportFile<T>(
  { fileId, keyring }: { fileId: string; keyring: Keyring },
  use: (file: FileHandle) => Promise<T>,
): Promise<T> {
  const stored = await bucket.files().findOne({ _id: fileId })
  if (!stored?.metadata.tag) throw new ServiceError('no_export', { reason: 'the upload is not whole' })
  const { connectionId, key, iv, tag, version } = stored.metadata
  const bound = version === undefined ? Buffer.from(fileId) : boundTo(connectionId)
  const decipher = createDecipheriv(ALGORITHM, keyring.unwrap(key), iv, TAG).setAAD(bound).setAuthTag(tag)
  const file = await openNameless()
  try {
    await pipeline(bucket.download(fileId), decipher, (bytes: AsyncIterable<Buffer>) => writeTo(file, bytes))
    return await use(file)
  } finally {
    await file.close()
  }
}

async function writeTo(file: FileHandle, bytes: AsyncIterable<Buffer>): Promise<void> {
  let position = 0
  for await (const chunk of bytes)
    for (let written = 0; written < chunk.length; ) {
      const { bytesWritten } = await file.write(chunk, written, chunk.length - written, position)
      written += bytesWritten
      position += bytesWritten
    }
}

async function openNameless(): Promise<FileHandle> {
  const folder = await mkdtemp(join(tmpdir(), 'ccs-export-'))
  try {
    return await open(join(folder, 'export'), 'wx+', 0o600)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export const deleteExportUpload = ({ fileId }: { fileId: string }): Promise<void> => bucket.remove(fileId)

/** For what GridFS has no index of its own for. */
export async function createUploadIndexes(): Promise<void> {
  await bucket.files().createIndex({ 'metadata.connectionId': 1 })
}

/** Deletes what was uploaded for a connection and not ingested yet. */
export async function deleteExportUploadsOf({ connectionId }: { connectionId: string }): Promise<void> {
  for await (const { _id } of bucket.files().find({ 'metadata.connectionId': connectionId }))
    await deleteExportUpload({ fileId: _id })
}

/**
 * Deletes uploads from before `before` that nobody will ingest: those of a process that died between the upload and the command, and
 * the pieces of interrupted ones. Returns how many went.
 */
export async function deleteStrayUploads({ before }: { before: Date }): Promise<number> {
  const end = mongoose.Types.ObjectId.createFromTime(Math.floor(before.getTime() / SECOND))
  const first = bucket.chunks().find({ _id: { $lt: end }, n: 0 }, { projection: { files_id: 1 } })
  const waiting = { claimableAt: trusted({ $exists: true }), state: 'waiting' } as const
  let deleted = 0
  for await (const { files_id: fileId } of first) {
    if (await Commands.exists({ ...waiting, kind: 'ingest', 'args.fileId': fileId })) continue
    await deleteExportUpload({ fileId })
    deleted += 1
  }
  return deleted
}
