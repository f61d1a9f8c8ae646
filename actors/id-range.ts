/** Ids are told apart by their first four hexadecimal digits. */
const DIGITS = 4
const VALUES = 16 ** DIGITS

/** Ids from `$gte` on, below `$lt`; one that is absent has no bound. */
export interface IdRange {
  $gte?: string
  $lt?: string
}

/** One of `count` parts that hold every id between them. */
export function rangeOf({ index, count }: { index: number; count: number }): IdRange | undefined {
  if (index < 0 || count < 2) return undefined
  const bound = (part: number): string =>
    Math.floor((part * VALUES) / count)
      .toString(16)
      .padStart(DIGITS, '0')
  return { ...(index > 0 && { $gte: bound(index) }), ...(index < count - 1 && { $lt: bound(index + 1) }) }
}
