import type { ProviderClient } from '../../provider/client.ts'
import { storedOf } from '../archive/store.ts'
import { type Look, resumeAt } from './resume.ts'
import { goBack, goOn, leavesGap, type Walk } from './walk.ts'

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
  const begin = from && (await resumeAt({ look, archiveId, from }))
  let walk: Walk = {
    offset: begin?.offset ?? 0,
    before: from,
    previous: undefined,
    refused: undefined,
    stepBack: pageSize,
  }
  let ahead = begin && Promise.resolve<Look>(begin)
  try {
    for (let first = true; first || !isOver(); first = false) {
      const { page, stored } = await (ahead ?? look(walk.offset))
      ahead = undefined
      if (leavesGap(walk, page.items)) {
        walk = goBack(walk, page.items)
        continue
      }
      const next = goOn(walk, page, { pageSize, until })
      walk = next.walk
      if (!first && !next.reached && !isOver()) {
        ahead = look(walk.offset)
        ahead.catch(halt)
      }
      yield { page, stored, before: walk.before, reached: next.reached }
      if (next.reached) return
    }
  } finally {
    // An answer that is under way may bring a new cookie, which has to be stored while the connection is held.
    await ahead?.catch(() => undefined)
  }
}
