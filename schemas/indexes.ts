import { createUploadIndexes } from './archive/export-upload.ts'
import { Commands } from './command/command.ts'
import { Leases } from './lease/lease.ts'
import { MODELS } from './models.ts'
import { Captures } from './user/capture.ts'
import { ConsumedLinks } from './user/consumed-link.ts'

/** Indexes of earlier versions that would end a retention before its time. Some of what those wrote has no outbox, which the new ones ask for. */
const RETIRED = [
  { model: ConsumedLinks, name: 'expireAt_1' },
  { model: Captures, name: 'expireAt_1' },
  { model: Commands, name: 'doneAt_1' },
  { model: Leases, name: 'endedAt_1' },
]

/**
 * Creates the indexes of every collection, whichever of them this process works with: the first process of a new deployment may be
 * any. Safe to run from several at once. All collections at once: where the database is slow a process would take a minute to start.
 */
export async function createIndexes(): Promise<void> {
  await Promise.all([...MODELS.map((model) => model.createIndexes()), createUploadIndexes()])
  await Promise.all(RETIRED.map(retire))
}

async function retire({ model: { collection }, name }: (typeof RETIRED)[number]): Promise<void> {
  const present = await collection.indexes()
  if (!present.some((index) => index.name === name)) return
  await collection.updateMany({ outbox: { $exists: false } }, { $set: { outbox: [] } })
  await collection.dropIndex(name).catch(unlessGone)
}

/** Another process that started at the same moment was faster. */
const INDEX_NOT_FOUND = 27
const unlessGone = (error: unknown): void => {
  if ((error as { code?: unknown }).code !== INDEX_NOT_FOUND) throw error
}
