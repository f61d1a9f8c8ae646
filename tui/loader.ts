import { type Client, OpsError } from './client.ts'
import type { Opened } from './state.ts'
import type { Store } from './store.ts'
import { clean } from './text.ts'
import { VIEWS } from './views/all.ts'

const REFRESH_MS = 2_000
/** What a row has beside the list costs the service more than the list. */
const DETAIL_MS = 10_000
const TICK_MS = 1_000
/** So long the outcome of an action is shown. */
const MESSAGE_MS = 12_000

/** Keeps what is shown fresh. */
export interface Loader {
  /** Loads the present view now, unless the program is about to end. */
  load(): Promise<void>
  /** Loads what the opened row has beside the list. */
  loadOpened(): Promise<void>
  start(): void
  stop(): void
}

export function createLoader({ client, store }: { client: Client; store: Store }): Loader {
  const { state, now, history } = store
  let timer: NodeJS.Timeout | undefined
  let ticker: NodeJS.Timeout | undefined
  let loading: AbortController | undefined
  let stopped = true
  let noting = false
  const load = async (): Promise<void> => {
    clearTimeout(timer)
    loading?.abort()
    if (stopped) return
    const mine = new AbortController()
    loading = mine
    const name = state().view
    try {
      const data = await VIEWS[name].load(client, { q: store.look().filter.trim(), signal: mine.signal })
      if (mine.signal.aborted) return
      const kept = { ...state().loaded, [name]: { data, at: now() } }
      history.note(name === 'overview' ? data : undefined, now())
      const first = state().loaded[name] === undefined
      store.set({ loaded: kept, trouble: null, now: now(), history: history.values(now()) })
      if (store.look().selected === null || first) store.select(store.position())
      void loadOpened()
      void noteHistory()
    } catch (error) {
      if (mine.signal.aborted) return
      if (!(error instanceof OpsError)) throw error
      fail(error)
    } finally {
      if (loading === mine) timer = setTimeout(refresh, REFRESH_MS)
    }
  }
  /** Whichever view is shown, and beside it: it waits for nothing of this, and what is wrong with the service it finds itself. */
  const noteHistory = async (): Promise<void> => {
    if (noting || !history.isDue(now())) return
    noting = true
    try {
      history.note(await client('getOverview'), now())
    } catch (error) {
      if (!(error instanceof OpsError)) throw error
    } finally {
      noting = false
    }
  }
  const loadOpened = async (): Promise<void> => {
    const { view, opened: asked } = state()
    const row = store.current()
    if (!asked || !row) return
    const keep = (change: Partial<Opened>): void => {
      const { opened } = state()
      if (opened?.row.id === row.id) store.set({ opened: { ...opened, ...change } })
    }
    keep({ row })
    const { loadDetail } = VIEWS[view]
    if (!loadDetail || now() - asked.askedAt < DETAIL_MS) return
    keep({ askedAt: now() })
    try {
      keep({ more: await loadDetail(client, row.id) })
    } catch (error) {
      if (!(error instanceof OpsError)) throw error
      // What it said before is better than nothing: a lost service has a banner of its own.
      if (asked.more === null || error.kind === 'failed') keep({ more: ['', `✖ ${clean(error.message)}`] })
    }
  }
  const fail = (error: OpsError): void => {
    const message =
      error.kind === 'lost'
        ? `SERVICE LOST: ${error.message}`
        : error.kind === 'refused'
          ? `KEY REFUSED: ${error.message}`
          : error.message
    store.set({ trouble: { message: clean(message), since: state().trouble?.since ?? now() } })
  }
  const refresh = (): void => {
    if (!state().paused) void load()
  }
  const tick = (): void => {
    const { message } = state()
    const isOld = message !== null && now() - message.at > MESSAGE_MS
    store.set({ now: now(), message: isOld ? null : message })
  }
  return {
    load,
    loadOpened,
    start: () => {
      stopped = false
      ticker = setInterval(tick, TICK_MS)
      void load()
    },
    stop: () => {
      stopped = true
      clearInterval(ticker)
      clearTimeout(timer)
      loading?.abort()
    },
  }
}
