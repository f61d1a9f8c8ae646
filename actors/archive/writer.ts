import { type Clock, SECOND } from '../../core/clock.ts'
import { SMALL_BYTES } from '../../provider/memory.ts'
import { type Account, Accounts, type Backfill } from '../../schemas/connection/account.ts'
import type { Prepared } from './prepare.ts'
import { type Stored, storeConversations } from './store.ts'

/** Written in one go: so many conversations or bytes of them, or what has come together after this time (machine ms). */
const BATCH_CONVERSATIONS = 1_000
const BATCH_BYTES = 2.5 * 1024 * 1024
const BATCH_MS = 2 * SECOND
/** The database gets the next batch while it still works on the one before: it answers several writes in a row for each. */
const BATCHES_AT_ONCE = 2

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
  /** In the order in which they were begun, and in which they end. */
  const writing: Promise<void>[] = []
  let failure: { error: unknown } | undefined
  let begunAt = clock.elapsed()
  let filesFound = 0
  let revision = account.backfillRevision

  /** One after the other: what the last one says of the archive holds. */
  let marked: Promise<void> = Promise.resolve()
  const mark = (archive: 'moving' | 'settled'): Promise<void> => {
    const marking = marked.then(() => checkpoint(archive))
    marked = marking.catch(() => undefined)
    return marking
  }

  /** Batches are stored side by side, and noted one after the other: none after one that was not stored, which would be passed over. */
  const write = async (
    { conversations, stored, backfill }: Batch,
    before: Promise<void> | undefined,
  ): Promise<void> => {
    try {
      await mark('moving')
      const { archiveId } = account
      const now = clock.now()
      const { written, untouched } = await storeConversations({ archiveId, runId, conversations, stored, now })
      await before
      if (failure) return
      progress.written += written
      progress.unchanged += untouched
      filesFound += conversations.reduce((sum, { files }) => sum + files.length, 0)
      if (backfill) await writeBackfill(backfill)
      // Where another batch is under way or waits already, it would be moving again at once.
      if (writing.length === 1 && (isEmpty() || !isFull())) await mark('settled')
    } catch (error) {
      failure ??= { error }
      await before
    }
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
    writing.push(write(batch, writing.at(-1)).finally(() => void writing.shift()))
    batch = emptyBatch()
    begunAt = clock.elapsed()
  }

  /** Nothing is written any more once it throws. */
  const checkFailure = async (): Promise<void> => {
    if (!failure) return
    await Promise.all(writing)
    throw failure.error
  }
  const ended = async (): Promise<void> => {
    await Promise.all(writing)
    await checkFailure()
  }

  const isFull = (): boolean =>
    batch.conversations.length >= BATCH_CONVERSATIONS ||
    batch.bytes >= BATCH_BYTES ||
    clock.elapsed() - begunAt >= BATCH_MS
  const isEmpty = (): boolean => batch.conversations.length === 0 && !batch.backfill

  const writeIfFull = async (): Promise<void> => {
    while (isFull() && !failure) {
      if (writing.length < BATCHES_AT_ONCE) begin()
      else await writing[0]
    }
    await checkFailure()
  }

  /** Several may wait for the same batch. */
  const flush = async (): Promise<void> => {
    const last = batch
    await ended()
    if (batch === last && !isEmpty()) begin()
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
