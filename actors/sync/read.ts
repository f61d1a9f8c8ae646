import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import type { ListItem, ProviderClient } from '../../provider/client.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { isExternalId } from '../../schemas/archive/external-id.ts'
import type { Account, Backfill } from '../../schemas/connection/account.ts'
import { trusted } from '../../schemas/database.ts'
import { fetchAttachments } from '../archive/attachments.ts'
import { later } from '../archive/prepare.ts'
import { isNewer, storedOf } from '../archive/store.ts'
import { type Checkpoint, createWriter, type Writer } from '../archive/writer.ts'
import { fetchConversations } from './fetch.ts'
import { type PagesOptions, pagesDown, type Step } from './pages.ts'
import { newestOf } from './walk.ts'

/** The most external ids that are kept to be asked for again. */
const MOST_UNREAD = 500
/** So many of them are asked for in one go: each may take the whole back-off, and others wait. */
const UNREAD_AT_ONCE = 8

interface ReadOptions {
  account: Account & { archiveId: string }
  /** Encrypts the archive's files. */
  archiveKey: Buffer
  runId: string
  client: ProviderClient
  pageSize: number
  clock: Clock
  log: Logger
  /** Ends with more to read when it returns true between two pages. */
  isOver: () => boolean
  /** Counted up: what was looked at and left as it was, and what was stored. */
  progress: { unchanged: number; written: number }
  /** Called before anything is stored, and after; throws when the claim is lost. */
  checkpoint: Checkpoint
  /** Told of an error that ends the reading: no further request is sent. */
  halt: (error: unknown) => void
}

interface Reader extends ReadOptions {
  writer: Writer
  /** Update times of what was looked at in this sync, by external id. */
  seen: Map<string, Date | null>
  unread: Set<string>
  /** What of it was asked for again in this sync. */
  asked: Set<string>
  backfill: Backfill
}

/**
 * Reads an account: first what is new or changed, from the newest down to where the last complete look began; then the history,
 * backwards from where it was left. Page first, checkpoint after; a conversation that did not change is not fetched.
 * Returns false when there is more to read. Whatever ends it, all that was read is stored, unless the claim is lost.
 */
export async function readAccount(options: ReadOptions): Promise<boolean> {
  const { backfill } = options.account
  const reader: Reader = {
    ...options,
    writer: createWriter(options),
    seen: new Map(),
    unread: new Set(backfill.unread),
    asked: new Set(),
    backfill,
  }
  try {
    const upToDate = (await readNews(reader)) && (await readGap(reader))
    if (upToDate) await readUnread(reader)
    const finished = upToDate && (await readHistory(reader))
    if (finished) await readUnread(reader)
    await reader.writer.flush()
    return finished && (await readFiles(reader))
  } catch (error) {
    // With what was noted as unread: the next sync leaves that for later and so gets past it.
    await checkpointAt(reader, reader.backfill)
    await reader.writer.flush()
    throw error
  }
}

const pages = (reader: Reader, range: Pick<PagesOptions, 'from' | 'until'>) =>
  pagesDown({ ...reader, ...range, archiveId: reader.account.archiveId })

/** What is new or changed since the last complete look; of an account that was never looked at, its first page. */
async function readNews(reader: Reader): Promise<boolean> {
  const { head, gap, ...rest } = reader.backfill
  let newest = head
  for await (const step of pages(reader, { until: gap?.head ?? head })) {
    const { page, before, reached } = step
    newest = later(newest ?? null, newestOf(page.items) ?? null) ?? undefined
    if (!head || !newest) {
      const done = page.nextOffset === null
      await readPage(reader, step, { ...rest, ...(newest && { head: newest }), ...(before && { before }), done })
      return true
    }
    const left = reached ? gap?.before : before
    await readPage(
      reader,
      step,
      left ? { ...rest, head, gap: { head: newest, before: left } } : { ...rest, head: reached ? newest : head },
    )
    if (reached) return true
  }
  return false
}

/** What lies between two looks of which the later was cut short. */
async function readGap(reader: Reader): Promise<boolean> {
  const { gap, head, ...rest } = reader.backfill
  if (!gap || !head) return true
  await reader.writer.flush()
  for await (const step of pages(reader, { from: gap.before, until: head })) {
    const { before, reached } = step
    const next = reached ? { head: gap.head } : { head, gap: { head: gap.head, before: before ?? gap.before } }
    await readPage(reader, step, { ...rest, ...next })
    if (reached) return true
  }
  return false
}

async function readHistory(reader: Reader): Promise<boolean> {
  if (reader.backfill.done) {
    const { absent = 0 } = reader.backfill
    const missing = await missingOf(reader)
    if (missing < absent) await checkpointAt(reader, { ...reader.backfill, absent: missing })
    if (missing <= absent) return true
    // The provider has more than was found, and it is not new: the whole list is looked at again.
    const { before: _, ...rest } = reader.backfill
    reader.backfill = { ...rest, done: false }
  }
  await reader.writer.flush()
  for await (const step of pages(reader, { from: reader.backfill.before })) {
    const { before, reached } = step
    await readPage(reader, step, { ...reader.backfill, ...(before && { before }), done: reached })
    if (!reached) continue
    await checkpointAt(reader, { ...reader.backfill, absent: await missingOf(reader) })
    return true
  }
  return false
}

/**
 * By how many conversations the provider's total is more than what was stored or will be asked for again; less than none where some
 * of those are gone at the provider.
 */
async function missingOf({ account: { archiveId }, backfill, unread, writer }: Reader): Promise<number> {
  if (backfill.total === undefined) return 0
  await writer.flush()
  const [stored, both] = await Promise.all([
    Conversations.countDocuments({ archiveId }),
    unread.size === 0 ? 0 : Conversations.countDocuments({ archiveId, externalId: trusted({ $in: [...unread] }) }),
  ])
  return backfill.total - stored - (unread.size - both)
}

/** Asks once more for some of what was not to be had. */
async function readUnread(reader: Reader): Promise<void> {
  const { account, writer, unread, asked } = reader
  const externalIds = [...unread].filter((id) => !asked.has(id)).slice(0, UNREAD_AT_ONCE)
  if (externalIds.length === 0) return
  for (const id of externalIds) asked.add(id)
  await writer.flush()
  const stored = await storedOf({ archiveId: account.archiveId, externalIds })
  const onConversation = (conversation: Parameters<Writer['put']>[0]) =>
    writer.put(conversation, stored.get(conversation.externalId))
  await fetchConversations(
    { ...reader, onConversation, failuresInARow: Number.POSITIVE_INFINITY },
    externalIds.map((id) => ({ id, updateTime: null })),
  )
  await checkpointAt(reader, reader.backfill)
}

/** Fetches what files are left over from the pages. */
async function readFiles(reader: Reader): Promise<boolean> {
  for (;;) {
    const { settled } = await fetchAttachments({ ...reader, archiveId: reader.account.archiveId })
    if (settled === 0) return true
    if (reader.isOver()) return false
  }
}

/** Has how far was read written, with what is unread, after all that was put so far; `unchanged` more were left as they are. */
async function checkpointAt(reader: Reader, { unread: _, ...rest }: Backfill, { unchanged = 0 } = {}): Promise<void> {
  const unread = [...reader.unread].slice(0, MOST_UNREAD)
  reader.backfill = { ...rest, ...(unread.length > 0 && { unread }) }
  await reader.writer.page({ unchanged, backfill: reader.backfill })
}

async function readPage(reader: Reader, { page, stored }: Step, reached: Backfill): Promise<void> {
  const { account, runId, writer, seen, unread } = reader
  // What nothing can be stored under is not asked for.
  const items = page.items.filter(({ id }) => isExternalId(id))
  const fresh = items.filter(({ id }) => !seen.has(id))
  const again = items.filter(({ id, updateTime }) => isLater(updateTime, seen.get(id)))
  for (const { id, updateTime } of items) seen.set(id, later(updateTime, seen.get(id) ?? null))
  if (again.length > 0) {
    // Changed while the list was read: what was stored of them a moment ago decides.
    await writer.flush()
    const externalIds = again.map(({ id }) => id)
    for (const [id, known] of await storedOf({ archiveId: account.archiveId, externalIds })) stored.set(id, known)
  }
  // What is unread is asked for apart, so that it holds up nothing here.
  const isWanted = ({ id, updateTime }: ListItem) => !unread.has(id) && isNewer(stored.get(id), updateTime)
  const isMine = ({ id }: ListItem) => stored.get(id)?.runId === runId
  const wanted = [...fresh, ...again].filter(isWanted)
  // What this run stored before a crash is counted with what it stored, and a second look at something takes back the first.
  const left = fresh.filter((item) => stored.has(item.id) && !isWanted(item) && !isMine(item)).length
  const counted = again.filter((item) => isWanted(item) && !isMine(item)).length
  const onConversation = (conversation: Parameters<Writer['put']>[0]) =>
    writer.put(conversation, stored.get(conversation.externalId))
  await fetchConversations({ ...reader, onConversation }, wanted)
  await checkpointAt(
    reader,
    { ...reached, ...(page.total !== null && { total: page.total }) },
    { unchanged: left - counted },
  )
  if (writer.takeFilesFound() > 0) await fetchAttachments({ ...reader, archiveId: account.archiveId })
}

const isLater = (time: Date | null, seen: Date | null | undefined): boolean =>
  time !== null && seen !== undefined && (seen === null || time > seen)
