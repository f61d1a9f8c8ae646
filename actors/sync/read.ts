import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import { extractConversation } from '../../provider/branch.ts'
import type { ListItem, ListPage, ProviderClient } from '../../provider/client.ts'
import { ProviderContractError } from '../../provider/errors.ts'
import { type Account, Accounts, type Backfill } from '../../schemas/account.ts'
import { Conversations } from '../../schemas/conversation.ts'
import { fetchAttachments } from './attachments.ts'
import { type Incoming, isNewer, storeConversations, storedOf } from './store.ts'

/** Conversations of one page that are fetched at a time; the pace holds the rate, this hides the latency. */
const FETCHES_AT_ONCE = 4

export interface ReadOptions {
  account: Account & { archiveId: string }
  /** Encrypts the archive's files. */
  archiveKey: Buffer
  runId: string
  client: ProviderClient
  pageSize: number
  clock: Clock
  log: Logger
  /** Ends with `more` when it answers true between two pages. */
  isOver: () => boolean
  /** Called after each stored page with the number that was looked at and left as it was; throws when the claim is lost. */
  checkpoint: (unchanged: number) => Promise<void>
}

interface Reader extends ReadOptions {
  seen: Set<string>
}

/**
 * Reads an account: first what is new or changed, from the newest down to where the last complete look began; then the history,
 * backwards from where it was left. Page first, checkpoint after; a conversation that did not change is not fetched.
 * Answers false when there is more to read.
 */
export async function readAccount(options: ReadOptions): Promise<boolean> {
  const reader = { ...options, seen: new Set<string>() }
  const head = await readHead(reader)
  if (!head.complete) return false
  return (head.backfill.done || (await readHistory(reader, head.backfill))) && readFiles(reader)
}

/** Fetches what files are left over from the pages. */
async function readFiles(reader: Reader): Promise<boolean> {
  while (!reader.isOver()) {
    const settled = await fetchAttachments({ ...reader, archiveId: reader.account.archiveId })
    if (settled === 0) return true
  }
  return false
}

async function readHead(reader: Reader): Promise<{ complete: boolean; backfill: Backfill }> {
  const { account, client } = reader
  const known = account.backfill.head
  let newest: Date | undefined
  let offset: number | null = 0
  while (offset !== null) {
    if (offset > 0 && reader.isOver()) return { complete: false, backfill: account.backfill }
    const page: ListPage = await client.list({ offset })
    newest ??= page.items.find(({ updateTime }) => updateTime)?.updateTime ?? undefined
    await readPage(reader, page)
    const oldest = oldestOf(page.items)
    if (!known) {
      // The first look: its first page is the beginning of what was read, and the history goes on from there.
      return { complete: true, backfill: await saveBackfill(reader, covered(page, { head: newest, before: oldest })) }
    }
    if (oldest && oldest < known) break
    offset = following(page)
  }
  const head = newest && known && newest > known ? newest : known
  const backfill = { ...account.backfill, ...(head && { head }) }
  return { complete: true, backfill: await saveBackfill(reader, backfill) }
}

async function readHistory(reader: Reader, from: Backfill): Promise<boolean> {
  const { client, pageSize } = reader
  let backfill = from
  let offset: number | null = await historyOffset(reader, backfill.before)
  while (offset !== null && !backfill.done) {
    if (reader.isOver()) return false
    const page: ListPage = await client.list({ offset })
    if (offset > 0 && leavesGap(page.items, backfill.before)) {
      offset = Math.max(0, offset - pageSize)
      continue
    }
    await readPage(reader, page)
    const before = earlier(backfill.before, oldestOf(page.items))
    backfill = await saveBackfill(reader, covered(page, { ...backfill, before }))
    offset = following(page)
  }
  return true
}

/** Pages overlap by one entry, so that one which moves up between two calls is not passed over. */
const following = ({ nextOffset }: ListPage): number | null =>
  nextOffset === null ? null : Math.max(1, nextOffset - 1)

/** True when entries may lie between what was read and this page: the list moved up, or the way in was a wrong guess. */
function leavesGap(items: ListItem[], before: Date | undefined): boolean {
  const first = items.find(({ updateTime }) => updateTime)?.updateTime
  return items.length === 0 || (first !== null && first !== undefined && before !== undefined && first < before)
}

/** Where the history goes on: about as many entries down the list as were stored. */
async function historyOffset({ account }: Reader, before: Date | undefined): Promise<number> {
  if (!before) return 0
  const stored = await Conversations.countDocuments({ archiveId: account.archiveId })
  return Math.max(0, stored - 1)
}

const earlier = (a: Date | undefined, b: Date | undefined): Date | undefined => (!a ? b : !b ? a : a < b ? a : b)

const oldestOf = (items: ListItem[]): Date | undefined =>
  items.reduce<Date | undefined>(
    (oldest, { updateTime }) => (updateTime && (!oldest || updateTime < oldest) ? updateTime : oldest),
    undefined,
  )

const covered = (
  page: ListPage,
  { head, before }: { head?: Date | undefined; before?: Date | undefined },
): Backfill => ({
  done: page.nextOffset === null,
  ...(head && { head }),
  ...(before && { before }),
  ...(page.total !== null && { total: page.total }),
})

async function saveBackfill({ account }: Reader, backfill: Backfill): Promise<Backfill> {
  await Accounts.updateOne({ _id: account._id, archiveId: account.archiveId }, { $set: { backfill } })
  return backfill
}

async function readPage(reader: Reader, { items }: ListPage): Promise<void> {
  const { account, runId, clock } = reader
  const fresh = items.filter(({ id }) => !reader.seen.has(id))
  for (const { id } of fresh) reader.seen.add(id)
  const stored = await storedOf({ archiveId: account.archiveId, externalIds: fresh.map(({ id }) => id) })
  const wanted = fresh.filter(({ id, updateTime }) => isNewer(stored.get(id), updateTime))
  const alreadyCounted = fresh.filter(({ id }) => stored.get(id)?.runId === runId).length
  const conversations = await fetchAll(reader, wanted)
  const { untouched } = await storeConversations({
    archiveId: account.archiveId,
    runId,
    conversations,
    now: clock.now(),
  })
  await reader.checkpoint(Math.max(0, fresh.length - wanted.length - alreadyCounted) + untouched)
  await fetchAttachments({ ...reader, archiveId: account.archiveId })
}

async function fetchAll(reader: Reader, items: ListItem[]): Promise<Incoming[]> {
  const fetched: Incoming[] = []
  const waiting = [...items]
  const fetchNext = async (): Promise<void> => {
    for (let item = waiting.shift(); item; item = waiting.shift()) {
      const conversation = await fetchOne(reader, item)
      if (conversation) fetched.push(conversation)
    }
  }
  await Promise.all(Array.from({ length: FETCHES_AT_ONCE }, fetchNext))
  return fetched
}

/** Null for a conversation that vanished since it was listed, or that is none: the next sync looks again. */
async function fetchOne({ client, log }: Reader, { id, updateTime }: ListItem): Promise<Incoming | null> {
  try {
    const raw = await client.conversation(id)
    if (!raw) return null
    return { extracted: { ...extractConversation(raw), externalId: id }, raw, listedUpdateTime: updateTime }
  } catch (error) {
    if (!(error instanceof ProviderContractError)) throw error
    log.warn({ err: error }, 'a conversation could not be read')
    return null
  }
}
