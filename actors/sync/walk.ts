import type { ListItem, ListPage } from '../../provider/client.ts'

/** Where a walk down a list that moves meanwhile stands. */
export interface Walk {
  /** Of the next page. */
  offset: number
  /** The oldest update time down to which the list was read without a gap. */
  before: Date | undefined
  /** Ids of the page before; absent at the beginning. */
  previous: ReadonlySet<string> | undefined
  refused: Refused | undefined
  /** How far it goes back where the next page leaves a gap. */
  stepBack: number
}

/** A page that seemed to leave a gap. Where the way down from further up leads to it once more (`revisited`), that is how the list is. */
interface Refused {
  /** Its first entry; absent of a page without any. */
  begins: string | undefined
  revisited: boolean
}

/** True when entries may have slipped away between the page before and this one. */
export function leavesGap({ offset, before, previous, refused }: Walk, items: ListItem[]): boolean {
  if (!previous || offset === 0) return false
  if (refused?.revisited && refused.begins === items[0]?.id) return false
  return !items.some(({ id }) => previous.has(id)) && !beginsAbove(items, before)
}

/** Back from a page that leaves a gap, twice as far each time. */
export const goBack = (walk: Walk, items: ListItem[]): Walk => ({
  ...walk,
  refused: { begins: items[0]?.id, revisited: false },
  offset: Math.max(0, walk.offset - walk.stepBack),
  stepBack: walk.stepBack * 2,
})

/**
 * On to the next page, which overlaps this one by an entry. `reached` where nothing is left of what was asked for: the list's word on its
 * own length is not taken, it ends where nothing comes any more, or below `until`.
 */
export function goOn(
  { offset, before, previous, refused }: Walk,
  { items, nextOffset, isFull }: ListPage,
  { pageSize, until }: { pageSize: number; until: Date | undefined },
): { walk: Walk; reached: boolean } {
  const wentBack = refused !== undefined && !refused.revisited
  const nothingNew = items.every(({ id }) => previous?.has(id))
  const oldest = oldestOf(items)
  return {
    walk: {
      offset: Math.max(offset + 1, (nextOffset ?? 0) - 1),
      before: earlier(before, oldest),
      previous: new Set(items.map(({ id }) => id)),
      refused: wentBack ? { ...refused, revisited: true } : undefined,
      stepBack: pageSize,
    },
    reached:
      nextOffset === null ||
      (nothingNew && !isFull && !wentBack) ||
      (until !== undefined && oldest !== undefined && oldest < until),
  }
}

/**
 * True when nothing can lie between what was read down to `before` and this page, going by times. They tell only where they differ:
 * many entries may have the same, and then only an entry that was read shows that the page goes on there.
 */
export function beginsAbove(items: ListItem[], before: Date | undefined): boolean {
  const first = newestOf(items)
  return first !== undefined && before !== undefined && first > before
}

const earlier = (a: Date | undefined, b: Date | undefined): Date | undefined => (!a ? b : !b ? a : a < b ? a : b)

/** The update time of the first entry that has one. */
export const newestOf = (items: ListItem[]): Date | undefined =>
  items.find(({ updateTime }) => updateTime)?.updateTime ?? undefined

const oldestOf = (items: ListItem[]): Date | undefined =>
  items.reduce<Date | undefined>((oldest, { updateTime }) => earlier(oldest, updateTime ?? undefined), undefined)
