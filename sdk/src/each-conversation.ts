import { CcsError } from './errors.ts'
import type { Answer } from './request.ts'
import type { wait } from './retry.ts'
import type { ConversationPage } from './types.ts'

const WINDOW_MS = 60_000

type EachPageOptions = {
  read: (position: { cursor?: string; offset?: number }) => Promise<Answer>
  wait: typeof wait
  signal?: AbortSignal | undefined
}

/**
 * How long to wait before the next page, in milliseconds. The first half of a rate window is free; what is left of it is
 * then spread evenly up to its reset, so that a long read leaves room for the app's other calls. 0 without the headers.
 */
export function spread(headers: Headers, now: number): number {
  const [limit, remaining, reset] = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map((name) =>
    Number(headers.get(name) ?? Number.NaN),
  ) as [number, number, number]
  if (!(remaining < limit / 2)) return 0
  const left = Math.min(WINDOW_MS, Math.max(0, reset * 1000 - now))
  return Number.isNaN(left) ? 0 : Math.ceil(left / Math.max(1, remaining))
}

/** Where to read on after a page, or undefined when it was the last. */
function nextPosition(page: ConversationPage, cursor: string | undefined) {
  if (page.nextCursor === undefined) {
    const offset = page.offset + page.conversations.length
    return page.conversations.length === 0 || offset >= page.total ? undefined : { offset }
  }
  if (page.nextCursor === null) return undefined
  if (page.nextCursor === cursor) throw new CcsError('The API repeated a cursor', { status: 200 })
  return { cursor: page.nextCursor }
}

/** Reads page after page by cursor, or by offset where the API gives no cursor. */
export async function* eachPage({ read, wait, signal }: EachPageOptions): AsyncGenerator<ConversationPage, void> {
  let position: { cursor?: string; offset?: number } | undefined = {}
  while (position) {
    const { body, headers } = await read(position)
    const page = body as ConversationPage
    yield page
    position = nextPosition(page, position.cursor)
    const pause = position ? spread(headers, Date.now()) : 0
    if (pause > 0) await wait(pause, signal)
  }
}
