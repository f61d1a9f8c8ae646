import type { ListItem, ListPage, ProviderClient } from '../../provider/client.ts'
import { Conversations } from '../../schemas/conversation.ts'
import { trusted } from '../../schemas/database.ts'
import { type Stored, storedOf } from './store.ts'

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
 * The pages of an account's list, newest first, from one update time down to another. The list moves while it is read (PROVIDER.md):
 * pages overlap by one entry, and where entries may have slipped away between two pages it goes back for them. While a page is worked
 * on the next one is asked for; not after the first one, which mostly is the last.
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
  let offset = from ? await offsetOf(archiveId, from) : 0
  let stepBack = pageSize
  let ahead: Promise<Look> | undefined
  try {
    for (let first = true; first || !isOver(); first = false) {
      const { page, stored } = await (ahead ?? look(offset))
      ahead = undefined
      if (offset > 0 && leavesGap(page.items, before)) {
        offset = Math.max(0, offset - stepBack)
        stepBack *= 2
        continue
      }
      stepBack = pageSize
      const oldest = oldestOf(page.items)
      before = earlier(before, oldest)
      const reached = page.nextOffset === null || (until !== undefined && oldest !== undefined && oldest < until)
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

/** About as many entries down the list as were stored of those that are newer. */
async function offsetOf(archiveId: string, from: Date): Promise<number> {
  const newer = await Conversations.countDocuments({ archiveId, updateTime: trusted({ $gte: from }) })
  return Math.max(0, newer - 1)
}

/** True when entries may lie between what was read and this page: the list moved up, or the way in was a wrong guess. */
function leavesGap(items: ListItem[], before: Date | undefined): boolean {
  const first = newestOf(items)
  return items.length === 0 || (first !== undefined && before !== undefined && first < before)
}

const earlier = (a: Date | undefined, b: Date | undefined): Date | undefined => (!a ? b : !b ? a : a < b ? a : b)

/** The update time of the first entry that has one. */
export const newestOf = (items: ListItem[]): Date | undefined =>
  items.find(({ updateTime }) => updateTime)?.updateTime ?? undefined

const oldestOf = (items: ListItem[]): Date | undefined =>
  items.reduce<Date | undefined>((oldest, { updateTime }) => earlier(oldest, updateTime ?? undefined), undefined)
