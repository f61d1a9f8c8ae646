import type { ListPage } from '../../provider/client.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { trusted } from '../../schemas/database.ts'
import type { Stored } from '../archive/store.ts'
import { beginsAbove } from './walk.ts'

/** A page of the list beside what is stored of its conversations, by external id. */
export interface Look {
  page: ListPage
  stored: Map<string, Stored>
}

/**
 * Where to take up a list that was read down to `from`: where what is stored says, and where much was deleted since, what halving finds
 * in a few calls. The page there begins with something that was read and goes beyond it, so that every walk gets on.
 */
export async function resumeAt({
  look,
  archiveId,
  from,
}: {
  look: (offset: number) => Promise<Look>
  archiveId: string
  from: Date
}): Promise<Look & { offset: number }> {
  const wasRead = ({ page: { items }, stored }: Look): boolean =>
    items.some(({ id, updateTime }) => stored.has(id) && updateTime?.getTime() === from.getTime()) ||
    beginsAbove(items, from)
  const guess = await offsetOf(archiveId, from)
  let above = 0
  let beyond = Number.POSITIVE_INFINITY
  for (let offset = guess; ; offset = Math.floor((above + beyond) / 2)) {
    const there = await look(offset)
    if (offset > 0 && !wasRead(there)) beyond = offset
    else if (offset === guess || beyond - offset <= Math.max(1, there.page.items.length)) return { ...there, offset }
    else above = offset
  }
}

/** About as many entries down the list as were stored of those that are not older. */
async function offsetOf(archiveId: string, from: Date): Promise<number> {
  const read = await Conversations.countDocuments({ archiveId, updateTime: trusted({ $gte: from }) })
  return Math.max(0, read - 1)
}
