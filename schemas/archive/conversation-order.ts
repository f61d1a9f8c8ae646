import { trusted } from '../database.ts'
import { type Conversation, Conversations } from './conversation.ts'
import { LISTED, type ListedEntry } from './conversation-body.ts'

/** Where a conversation stands in its archive's order: newest update first, those without a time last. */
export type SortKey = Pick<Conversation, '_id' | 'updateTime'>

export interface Selection {
  archiveId: string
  /** Only conversations updated later than this. */
  updatedAfter?: Date
}

/** A position in the order: at a key, or just after it. */
export interface Position {
  key: SortKey
  inclusive: boolean
}

const ORDER = { updateTime: -1, _id: -1 } as const
/** Named, since a planner that guesses sorts the whole archive for a deep offset instead of walking its order. */
const ORDER_INDEX = { archiveId: 1, ...ORDER } as const

type Filter = Record<string, unknown>

const everything = ({ archiveId, updatedAfter }: Selection): Filter => ({
  archiveId,
  ...(updatedAfter && { updateTime: trusted({ $gt: updatedAfter }) }),
})

/**
 * The parts of a selection from a position on, in order. A range of times holds no conversation without a time, so those come as a part of
 * their own; each part is one range of the order's index.
 */
function partsFrom({ archiveId, updatedAfter }: Selection, { key, inclusive }: Position): Filter[] {
  const { updateTime, _id } = key
  const id = trusted(inclusive ? { $lte: _id } : { $lt: _id })
  if (updateTime === null) return updatedAfter ? [] : [{ archiveId, updateTime: null, _id: id }]
  const range = trusted({ $lte: updateTime, ...(updatedAfter && { $gt: updatedAfter }) })
  const dated = { archiveId, updateTime: range, $or: [{ updateTime: trusted({ $lt: updateTime }) }, { _id: id }] }
  return updatedAfter ? [dated] : [dated, { archiveId, updateTime: null }]
}

/** Up to `limit` conversations in order, without their texts, from the beginning or from a position on. */
export async function readPage({
  selection,
  from,
  limit,
}: {
  selection: Selection
  from?: Position
  limit: number
}): Promise<ListedEntry[]> {
  const page: ListedEntry[] = []
  for (const filter of from ? partsFrom(selection, from) : [everything(selection)]) {
    if (page.length >= limit) break
    const query = Conversations.find(filter)
      .sort(ORDER)
      .limit(limit - page.length)
    page.push(...(await query.select(LISTED).lean<ListedEntry[]>()))
  }
  return page
}

/** The key of the conversation that has `skip` others before it, counted from the beginning or from a position on; null beyond the end. */
export async function findKey({
  selection,
  from,
  skip,
}: {
  selection: Selection
  from?: Position
  skip: number
}): Promise<SortKey | null> {
  const [filter] = from ? partsFrom(selection, from) : [everything(selection)]
  if (!filter) return null
  // Keys only, so that a server that can answers from the index alone.
  const query = Conversations.findOne(filter).sort(ORDER).skip(skip)
  return query.select({ updateTime: 1 }).hint(ORDER_INDEX).lean<SortKey>()
}

/** How many conversations a selection holds. */
export const countSelected = (selection: Selection): Promise<number> =>
  Conversations.countDocuments(everything(selection))
