import type { Store } from './store.ts'
import { fit, wrap } from './text.ts'
import type { Detail } from './view.ts'

const NAME_WIDTH = 16
/** A space on either side. */
const EDGES = 2

/** The lines of the row that is opened, all of them; none where none is. */
export function openedLines({ state, current, listed }: Pick<Store, 'state' | 'current' | 'listed'>): string[] {
  const { opened, size } = state()
  const row = current()
  if (!opened || !row) return []
  const width = size.columns - EDGES
  const isListed = listed().some((each) => each.row.id === row.id)
  return [
    ...(isListed ? [] : ['It is listed no more; this is how it was listed last.', '']),
    ...detailLines(row.detail, width),
    ...(opened.more === null ? ['', 'Loading'] : detailLines(opened.more, width)),
  ]
}

const detailLines = (detail: Detail, width: number): string[] =>
  detail.flatMap((each) => {
    if (typeof each === 'string') return wrap(each, width)
    const [name, value] = each
    return wrap(value, width - NAME_WIDTH).map(
      (part, index) => `${fit(index === 0 ? name : '', NAME_WIDTH - 1)} ${part}`,
    )
  })
