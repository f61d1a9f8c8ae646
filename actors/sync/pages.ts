import type { ListItem, ListPage, ProviderClient } from '../../provider/client.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { trusted } from '../../schemas/database.ts'
import { type Stored, storedOf } from '../archive/store.ts'

export interface PagesOptions {
  client: ProviderClient
  pageSize: number
  archiveId: string
  /** Looked at between two pages: however short the time is, every sync gets on by a page. */
  isOver: () => boolean
  /** Begins about there, after everything newer; at the top where absent. */
  from?: Date | undefined
  /** Ends with the page that holds something older; with the last page where absent. */
  until?: Date | undefined
  /** Told of an error that ends the reading, also where a page was asked for ahead of time. */
  halt: (error: unknown) => void
}

/** A page of the list beside what is stored of its conversations, by external id. */
interface Look {
  page: ListPage
  stored: Map<string, Stored>
}

export interface Step extends Look {
  /** The oldest update time down to which the list was read without a gap. */
  before: Date | undefined
  /** Nothing is left to read of what was asked for. */
  reached: boolean
}

/**
 * The pages of an account's list, newest first, from one update time down to another. The list moves while it is read (docs/provider.md, Conversations):
 * pages overlap by one entry, and where entries may have slipped away between two pages it goes back for them. Nor is the list's word
 * on its own length taken: it ends where nothing comes any more. While a page is worked on the next one is asked for; not after the
 * first one, which mostly is the last.
 */
export async function* pagesDown({
  client,
  pageSize,
  archiveId,
  isOver,
  from,
  until,
  halt,
}: PagesOptions): AsyncGenerator<Step> {
  const look = async (offset: number): Promise<Look> => {
    const page = await client.list({ offset })
    return { page, stored: await storedOf({ archiveId, externalIds: page.items.map(({ id }) => id) }) }
  }
  let before = from
  let offset = 0
  let previous: Set<string> | undefined
  let refused: Refused | undefined
  let stepBack = pageSize
  let ahead: Promise<Look> | undefined
  if (from) {
    const found = await wayIn({ look, from, guess: await offsetOf(archiveId, from) })
    offset = found.offset
    ahead = Promise.resolve(found)
  }
  try {
    for (let first = true; first || !isOver(); first = false) {
      const { page, stored } = await (ahead ?? look(offset))
      ahead = undefined
      const { items } = page
      const begins = items[0]?.id
      const isMeant = first || offset === 0 || (refused?.gone && refused.begins === begins)
      const goesOn = items.some(({ id }) => previous?.has(id)) || beginsAbove(items, before)
      if (!isMeant && !goesOn) {
        refused = { begins, gone: false }
        offset = Math.max(0, offset - stepBack)
        stepBack *= 2
        continue
      }
      const wentBack = refused !== undefined && !refused.gone
      refused = wentBack && refused ? { ...refused, gone: true } : undefined
      stepBack = pageSize
      const nothingNew = items.every(({ id }) => previous?.has(id))
      previous = new Set(items.map(({ id }) => id))
      const oldest = oldestOf(items)
      before = earlier(before, oldest)
      const reached =
        page.nextOffset === null ||
        (nothingNew && !page.isFull && !wentBack) ||
        (until !== undefined && oldest !== undefined && oldest < until)
      offset = Math.max(offset + 1, (page.nextOffset ?? 0) - 1)
      if (!first && !reached && !isOver()) {
        ahead = look(offset)
        ahead.catch(halt)
      }
      yield { page, stored, before, reached }
      if (reached) return
    }
  } finally {
    // An answer that is under way may bring a new cookie, which has to be stored while the connection is held.
    await ahead?.catch(() => undefined)
  }
}

/** A page that seemed to leave a gap. Where the way down from further up leads to it once more (`gone`), that is how the list is. */
interface Refused {
  /** Its first entry; absent of a page without any. */
  begins: string | undefined
  gone: boolean
}

/** About as many entries down the list as were stored of those that are not older. */
async function offsetOf(archiveId: string, from: Date): Promise<number> {
  const read = await Conversations.countDocuments({ archiveId, updateTime: trusted({ $gte: from }) })
  return Math.max(0, read - 1)
}

/**
 * Where to take up a list that was read down to `from`: the guess where it holds, and where much was deleted since, what halving finds
 * in a few calls. The page there begins with something that was read and goes beyond it, so that every walk gets on.
 */
async function wayIn({
  look,
  from,
  guess,
}: {
  look: (offset: number) => Promise<Look>
  from: Date
  guess: number
}): Promise<Look & { offset: number }> {
  const wasRead = ({ page: { items }, stored }: Look): boolean =>
    items.some(({ id, updateTime }) => stored.has(id) && updateTime?.getTime() === from.getTime()) ||
    beginsAbove(items, from)
  let above = 0
  let beyond = Number.POSITIVE_INFINITY
  for (let offset = guess; ; offset = Math.floor((above + beyond) / 2)) {
    const there = await look(offset)
    if (offset > 0 && !wasRead(there)) beyond = offset
    else if (offset === guess || beyond - offset <= Math.max(1, there.page.items.length)) return { ...there, offset }
    else above = offset
  }
}

/**
 * True when nothing can lie between what was read down to `before` and this page, going by times. They tell only where they differ:
 * many entries may have the same, and then only an entry that was read shows that the page goes on there.
 */
function beginsAbove(items: ListItem[], before: Date | undefined): boolean {
  const first = newestOf(items)
  return first !== undefined && before !== undefined && first > before
}

const earlier = (a: Date | undefined, b: Date | undefined): Date | undefined => (!a ? b : !b ? a : a < b ? a : b)

/** The update time of the first entry that has one. */
export const newestOf = (items: ListItem[]): Date | undefined =>
  items.find(({ updateTime }) => updateTime)?.updateTime ?? undefined

const oldestOf = (items: ListItem[]): Date | undefined =>
  items.reduce<Date | undefined>((oldest, { updateTime }) => earlier(oldest, updateTime ?? undefined), undefined)
