import { type Clock, DAY } from '../../core/clock.ts'
import { seal } from '../../core/envelope.ts'
import type { Logger } from '../../core/log.ts'
import type { FileReference } from '../../provider/branch.ts'
import type { FileAnswer, ProviderClient } from '../../provider/client.ts'
import { ProviderContractError, ProviderUnavailableError } from '../../provider/errors.ts'
import { type Attachment, Attachments, attachmentId, storeAttachmentBytes } from '../../schemas/archive/attachment.ts'
import { isExternalId } from '../../schemas/archive/external-id.ts'
import { trusted } from '../../schemas/database.ts'
import { ATTACHMENT_PURPOSE } from '../../schemas/secrets.ts'
import { isRivalled } from './rival.ts'

/** A larger file is noted, not stored: it is held in memory while it is encrypted. */
export const ATTACHMENT_BYTES = 25 * 1024 * 1024
/** Files fetched after one page of conversations, so that a page of pictures does not hold up the history. */
const FILES_PER_PAGE = 50
/**
 * A file that could not be fetched for so long (service ms) and by so many syncs is given up: longer than a file service is out, so that
 * none is lost to that, and more than a few looks, should the syncs have paused meanwhile.
 */
const GIVE_UP_MS = 7 * DAY
const GIVE_UP_FAILURES = 5

interface FetchFilesOptions {
  archiveId: string
  archiveKey: Buffer
  runId: string
  client: ProviderClient
  clock: Clock
  log: Logger
  isOver: () => boolean
  /** Called before anything is stored; throws when the claim is lost. */
  checkpoint: () => Promise<void>
}

/**
 * Notes the files of conversations that are about to be stored; those known already stay as they are, and what is too long for an id
 * names none.
 */
export async function noteAttachments({
  archiveId,
  files,
  now,
}: {
  archiveId: string
  files: FileReference[]
  now: Date
}): Promise<void> {
  const named = files.filter(({ fileId }) => isExternalId(fileId))
  if (named.length === 0) return
  const noting = Attachments.bulkWrite(
    named.map(({ fileId }) => ({
      updateOne: {
        filter: { _id: attachmentId({ archiveId, fileId }) },
        update: { $setOnInsert: { archiveId, fileId, state: 'waiting', foundAt: now } },
        upsert: true,
      },
    })),
    { ordered: false },
  )
  // The batch beside this one may note the same file.
  await isRivalled(noting)
}

/**
 * Fetches files that wait, encrypts and stores them; one that is gone or too large is noted as such. One that cannot be had is left for
 * the next sync, and given up after a week of that; those that failed before come last, so that they hold up no others. Returns how many
 * it settled or left for the next sync, at most a page's worth.
 */
export async function fetchAttachments(options: FetchFilesOptions): Promise<{ settled: number }> {
  const { archiveId, runId, isOver, checkpoint } = options
  const waiting = await Attachments.find({ archiveId, state: 'waiting', failedRunId: trusted({ $ne: runId }) })
    .sort({ failures: 1, _id: 1 })
    .limit(FILES_PER_PAGE)
    .lean<Attachment[]>()
  let settled = 0
  if (waiting.length > 0) await checkpoint()
  for (const attachment of waiting) {
    const served = await fetchOne(attachment, options)
    settled += 1
    if (!served || isOver()) break
  }
  return { settled }
}

/** False when the provider does not serve files for now. */
async function fetchOne(
  { _id, fileId, failures = 0, failingSince }: Attachment,
  { archiveId, archiveKey, runId, client, clock, log, checkpoint }: FetchFilesOptions,
): Promise<boolean> {
  let file: FileAnswer | null
  try {
    file = await client.file(fileId, { maxBytes: ATTACHMENT_BYTES })
  } catch (error) {
    const unavailable = error instanceof ProviderUnavailableError
    if (!unavailable && !(error instanceof ProviderContractError)) throw error
    log.warn({ err: error }, 'a file could not be fetched')
    const now = clock.now()
    const failed = { failures: failures + 1, failingSince: failingSince ?? now, failedRunId: runId }
    await Attachments.updateOne(
      { _id },
      { $set: { ...failed, ...(isGivenUp(failed, clock) && { state: 'given-up', settledAt: now }) } },
    )
    return !unavailable
  }
  if (file && !file.tooLarge) {
    try {
      const bytes = seal(archiveKey, { owner: archiveId, purpose: ATTACHMENT_PURPOSE }, file.bytes)
      await checkpoint()
      await storeAttachmentBytes({ id: _id, bytes })
    } finally {
      file.release()
    }
  }
  await Attachments.updateOne({ _id }, { $set: { ...stateOf(file), settledAt: clock.now() } })
  return true
}

const isGivenUp = (
  { failures, failingSince }: { failures: number; failingSince: Date },
  clock: Pick<Clock, 'now' | 'scaled'>,
): boolean => failures >= GIVE_UP_FAILURES && clock.now().getTime() - failingSince.getTime() >= clock.scaled(GIVE_UP_MS)

const stateOf = (file: FileAnswer | null): Partial<Attachment> => {
  if (!file) return { state: 'missing' }
  if (file.tooLarge) return { state: 'too-large' }
  return { state: 'stored', sizeBytes: file.bytes.length, ...(file.contentType && { contentType: file.contentType }) }
}
