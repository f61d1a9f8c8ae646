import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import type { ProviderClient } from '../../provider/client.ts'
import { type Account, Accounts, type Backfill } from '../../schemas/account.ts'
import { Conversations } from '../../schemas/conversation.ts'
import { fetchAttachments } from './attachments.ts'
import { fetchConversations } from './fetch.ts'
import { newestOf, type PagesOptions, pagesDown, type Step } from './pages.ts'
import { later } from './prepare.ts'
import { isNewer, storedOf } from './store.ts'
import { createWriter, type Writer } from './writer.ts'

/** The most external ids that are kept to be asked for again. */
const MOST_UNREAD = 500

export interface ReadOptions {
  account: Account & { archiveId: string }
  /** Encrypts the archive's files. */
  archiveKey: Buffer
  runId: string
  client: ProviderClient
  pageSize: number
  clock: Clock
  log: Logger
  /** Ends with more to read when it answers true between two pages. */
  isOver: () => boolean
  /** Counted up: what was looked at and left as it was. */
  progress: { unchanged: number }
  /** Called before anything is stored; throws when the claim is lost. */
  checkpoint: () => Promise<void>
  /** Told of an error that ends the reading: no further request is sent. */
  halt: (error: unknown) => void
}

interface Reader extends ReadOptions {
  writer: Writer
  seen: Set<string>
  unread: Set<string>
  backfill: Backfill
}

/**
 * Reads an account: first what is new or changed, from the newest down to where the last complete look began; then the history,
 * backwards from where it was left. Page first, checkpoint after; a conversation that did not change is not fetched.
 * Answers false when there is more to read. Whatever ends it, all that was read is stored, unless the claim is lost.
 */
export async function readAccount(options: ReadOptions): Promise<boolean> {
  const { backfill } = options.account
  const reader: Reader = {
    ...options,
    writer: createWriter(options),
    seen: new Set(),
    unread: new Set(backfill.unread),
    backfill,
  }
  try {
    const finished = (await readNews(reader)) && (await readGap(reader)) && (await readHistory(reader))
    if (finished) await readUnread(reader)
    await reader.writer.flush()
    return finished && (await readFiles(reader))
  } catch (error) {
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
  if (reader.backfill.done && (await surplus(reader)) > (reader.backfill.absent ?? 0)) {
    // The provider has more than was found, and it is not new: the whole list is looked at again.
    const { before: _, ...rest } = reader.backfill
    reader.backfill = { ...rest, done: false }
  }
  if (reader.backfill.done) return true
  await reader.writer.flush()
  for await (const step of pages(reader, { from: reader.backfill.before })) {
    const { before, reached } = step
    await readPage(reader, step, { ...reader.backfill, ...(before && { before }), done: reached })
    if (!reached) continue
    const absent = await surplus(reader)
    await reader.writer.page({ unchanged: 0, backfill: { ...withUnread(reader), absent } })
    return true
  }
  return false
}

/** How many conversations more the provider says it has than were stored or will be asked for again. */
async function surplus({ account: { archiveId }, backfill, unread, writer }: Reader): Promise<number> {
  if (backfill.total === undefined) return 0
  await writer.flush()
  return Math.max(0, backfill.total - unread.size - (await Conversations.countDocuments({ archiveId })))
}

/** Asks once more for what could not be used. */
async function readUnread(reader: Reader): Promise<void> {
  const { account, writer, unread } = reader
  if (unread.size === 0) return
  await writer.flush()
  const externalIds = [...unread]
  const stored = await storedOf({ archiveId: account.archiveId, externalIds })
  const onConversation = (conversation: Parameters<Writer['put']>[0]) =>
    writer.put(conversation, stored.get(conversation.externalId))
  await fetchConversations(
    { ...reader, onConversation },
    externalIds.map((id) => ({ id, updateTime: null })),
  )
  await writer.flush()
  await Accounts.updateOne(
    { _id: account._id, archiveId: account.archiveId },
    unread.size > 0 ? { $set: { 'backfill.unread': [...unread] } } : { $unset: { 'backfill.unread': 1 } },
  )
}

/** Fetches what files are left over from the pages. */
async function readFiles(reader: Reader): Promise<boolean> {
  for (;;) {
    const { settled } = await fetchAttachments({ ...reader, archiveId: reader.account.archiveId })
    if (settled === 0) return true
    if (reader.isOver()) return false
  }
}

const withUnread = ({ backfill: { unread: _, ...rest }, unread }: Reader): Backfill => ({
  ...rest,
  ...(unread.size > 0 && { unread: [...unread].slice(0, MOST_UNREAD) }),
})

async function readPage(reader: Reader, { page, stored }: Step, reached: Backfill): Promise<void> {
  const { items, total } = page
  const { account, runId, writer, seen } = reader
  const fresh = items.filter(({ id }) => !seen.has(id))
  for (const { id } of fresh) seen.add(id)
  const wanted = fresh.filter(({ id, updateTime }) => isNewer(stored.get(id), updateTime))
  const onConversation = (conversation: Parameters<Writer['put']>[0]) =>
    writer.put(conversation, stored.get(conversation.externalId))
  await fetchConversations({ ...reader, onConversation }, wanted)
  // What this run stored before a crash is counted with what it stored.
  const mine = fresh.filter((item) => !wanted.includes(item) && stored.get(item.id)?.runId === runId).length
  reader.backfill = { ...reached, ...(total !== null && { total }) }
  await writer.page({ unchanged: fresh.length - wanted.length - mine, backfill: withUnread(reader) })
  if (writer.takeFilesFound() > 0) await fetchAttachments({ ...reader, archiveId: account.archiveId })
}
