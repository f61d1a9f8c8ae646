import type { Row, Sort } from './view.ts'

/** A row of a tree as it stands in the list. */
export interface Listed {
  row: Row
  depth: number
  /** Of a row with others below it. */
  folded?: boolean
}

/** What is listed: rows that the filter lets through with those above them, sorted among their own, without what is folded. */
export function listRows(
  rows: readonly Row[],
  { filter, sort, folded }: { filter: string; sort: Sort; folded: ReadonlySet<string> },
): Listed[] {
  const wanted = filter.toLowerCase()
  const matches = (row: Row): boolean =>
    row.search.toLowerCase().includes(wanted) || (row.children?.some(matches) ?? false)
  const list = (level: readonly Row[], depth: number, all: boolean): Listed[] => {
    const shown = all ? level : level.filter(matches)
    return sorted(shown, sort).flatMap((row) => {
      if (!row.children) return { row, depth }
      // What was looked for is shown, folded or not.
      const isFolded = wanted === '' && folded.has(row.id)
      const below = isFolded
        ? []
        : list(row.children, depth + 1, all || (wanted !== '' && row.search.toLowerCase().includes(wanted)))
      return [{ row, depth, folded: isFolded }, ...below]
    })
  }
  return list(rows, 0, wanted === '')
}

const inOrder = new Intl.Collator()

function sorted(rows: readonly Row[], { column, down }: Sort): Row[] {
  const compare = (a: Row, b: Row): number => {
    const [x, y] = [a.sort[column] ?? '', b.sort[column] ?? '']
    if (typeof x === 'number' && typeof y === 'number') return x - y || 0
    return inOrder.compare(String(x), String(y))
  }
  return rows.toSorted((a, b) => (down ? -1 : 1) * compare(a, b) || (a.id < b.id ? -1 : 1))
}
