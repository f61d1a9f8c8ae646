import { trusted } from '../../../schemas/database.ts'
import { html, type Markup } from '../../pages/kit/html.ts'

/** More than anything writes in one millisecond about one app. */
const MOST_AT_ONCE = 1_000

/** A part of a list that is sorted by time, newest first. */
interface Page<T> {
  shown: T[]
  /** Where the next part begins: everything before this moment; absent at the end of the list. */
  before?: Date
}

/**
 * Reads a page of a list. It ends between two moments, since a link to the next one can name a moment only: what was written in the same
 * millisecond as its last row stands on this page too, so that no row is left out between two pages.
 */
export async function readPage<T>(
  {
    find,
    timeOf,
    length,
  }: {
    /** Reads so many rows, newest first, whose time matches the condition, which is absent for any. */
    find: (at: unknown, limit: number) => Promise<T[]>
    timeOf: (row: T) => Date
    length: number
  },
  before: Date | undefined,
): Promise<Page<T>> {
  const found = await find(before && trusted({ $lt: before }), length + 1)
  const last = found[length - 1]
  if (found.length <= length || !last) return { shown: found }
  const end = timeOf(last)
  const [same, older] = await Promise.all([find(end, MOST_AT_ONCE), find(trusted({ $lt: end }), 1)])
  const shown = [...found.filter((row) => timeOf(row) > end), ...same]
  return older.length > 0 ? { shown, before: end } : { shown }
}

/** The moment that a link to the next page names; undefined for anything else. */
export function readMoment(text: unknown): Date | undefined {
  const at = typeof text === 'string' ? new Date(text) : undefined
  return at && !Number.isNaN(at.getTime()) ? at : undefined
}

/** The ways on from a page of a list that is sorted by time. */
export function pageLinks({
  path,
  query,
  before,
  next,
  what,
}: {
  path: string
  query: Record<string, string>
  /** Where this page began; absent on the first one. */
  before: Date | undefined
  /** Where the next one begins; absent on the last one. */
  next: Date | undefined
  what: string
}): Markup | false {
  const address = (more: Record<string, string>): string => {
    const text = new URLSearchParams({ ...query, ...more }).toString()
    return text === '' ? path : `${path}?${text}`
  }
  if (!before && !next) return false
  return html`<nav class="pages" aria-label="Pages">${before && html`<a href="${address({})}">Newest ${what}</a>`}${
    next && html`<a href="${address({ before: next.toISOString() })}">Older ${what}</a>`
  }</nav>`
}
