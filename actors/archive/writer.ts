import { type Clock, SECOND } from '../../core/clock.ts'
import { SMALL_BYTES } from '../../provider/memory.ts'
import { type Account, Accounts, type Backfill } from '../../schemas/connection/account.ts'
import type { Prepared } from './prepare.ts'
import { type Stored, storeConversations } from './store.ts'

/** Written in one go: so many conversations or bytes of them, or what has come together after this time (machine ms). */
const BATCH_CONVERSATIONS = 250
const BATCH_BYTES = 4 * 1024 * 1024
const BATCH_MS = 2 * SECOND

/** Writes what a sync reads, in batches and in the background; what was read is in order: page first, checkpoint after. */
export interface Writer {
  /** One that is not small has been written when this ends: nobody holds it then. */
  put(conversation: Prepared, stored: Stored | undefined): Promise<void>
  /** A page was read: `unchanged` of it were left as they are; all that was put so far reaches to `backfill`. */
  page(options: { unchanged: number; backfill: Backfill }): Promise<void>
  /** Writes all that has come. */
  flush(): Promise<void>
  /** Files that were found since this was last asked. */
  takeFilesFound(): number
}

interface WriterOptions {
  /** As read by this run while it held the connection. */
  account: Pick<Account, '_id' | 'backfillRevision'> & { archiveId: string }
  runId: string
  clock: Clock
  /** Counted up. */
  progress: { unchanged: number; written: number }
  checkpoint: Checkpoint
}

/**
 * A write of the connection's holder: throws where someone else holds it by now, and then nothing is stored. It says of the archive that
 * conversations are about to be stored (`moving`), or that none are until it says so again (`settled`).
 */
export type Checkpoint = (archive?: 'moving' | 'settled') => Promise<void>

interface Batch {
  conversations: Prepared[]
  stored: Map<string, Stored>
  bytes: number
  backfill: Backfill | undefined
}

const emptyBatch = (): Batch => ({ conversations: [], stored: new Map(), bytes: 0, backfill: undefined })

export function createWriter({ account, runId, clock, progress, checkpoint }: WriterOptions): Writer {
  let batch = emptyBatch()
  let writing: Promise<void> | undefined
  let failure: { error: unknown } | undefined
  let begunAt = clock.elapsed()
  let filesFound = 0
  let revision = account.backfillRevision

  const write = async ({ conversations, stored, backfill }: Batch): Promise<void> => {
    await checkpoint('moving')
    const { archiveId } = account
    const now = clock.now()
    const { written, untouched } = await storeConversations({ archiveId, runId, conversations, stored, now })
    progress.written += written
    progress.unchanged += untouched
    filesFound += conversations.reduce((sum, { files }) => sum + files.length, 0)
    if (backfill) await writeBackfill(backfill)
    // Where the next batch is waiting already, it would be moving again at once.
    if (isEmpty() || !isFull()) await checkpoint('settled')
  }

  /** Writes it where nobody else has since this run last did; throws where somebody else holds the connection by now. */
  const writeBackfill = async (backfill: Backfill): Promise<void> => {
    const { _id, archiveId } = account
    for (;;) {
      const known = { _id, archiveId, backfillRevision: revision ?? null }
      const written = await Accounts.updateOne(known, { $set: { backfill }, $inc: { backfillRevision: 1 } })
      if (written.matchedCount > 0) break
      const current = await Accounts.findOne({ _id, archiveId }).select({ backfillRevision: 1 }).lean<Account>()
      // Looked at before: had a successor written by then, this throws. It does not where a predecessor's stalled write has just come in.
      await checkpoint()
      if (!current) return
      revision = current.backfillRevision
    }
    revision = (revision ?? 0) + 1
  }

  const begin = (): void => {
    const full = batch
    batch = emptyBatch()
    begunAt = clock.elapsed()
    writing = write(full)
      .catch((error: unknown) => {
        failure ??= { error }
      })
      .finally(() => {
        writing = undefined
      })
  }

  /** Nothing is written after a batch that was not: a checkpoint among it would pass over what that held. */
  const checkFailure = (): void => {
    if (failure) throw failure.error
  }
  const ended = async (): Promise<void> => {
    await writing
    checkFailure()
  }

  const isFull = (): boolean =>
    batch.conversations.length >= BATCH_CONVERSATIONS ||
    batch.bytes >= BATCH_BYTES ||
    clock.elapsed() - begunAt >= BATCH_MS
  const isEmpty = (): boolean => batch.conversations.length === 0 && !batch.backfill

  const writeIfFull = async (): Promise<void> => {
    checkFailure()
    while (isFull()) {
      if (writing) await ended()
      else begin()
    }
    checkFailure()
  }

  /** Several may wait for the same batch. */
  const flush = async (): Promise<void> => {
    const last = batch
    await ended()
    while (batch === last && !isEmpty()) {
      if (writing) await ended()
      else begin()
    }
    await ended()
  }

  return {
    put: async (conversation, stored) => {
      batch.conversations.push(conversation)
      batch.bytes += conversation.bytes
      if (stored) batch.stored.set(stored.externalId, stored)
      if (conversation.bytes > SMALL_BYTES) await flush()
      else if (failure || isFull()) await writeIfFull()
    },
    page: async ({ unchanged, backfill }) => {
      progress.unchanged += unchanged
      batch.backfill = backfill
      await writeIfFull()
    },
    flush,
    takeFilesFound: () => {
      const found = filesFound
      filesFound = 0
      return found
    },
  }
}
