import type { Client } from './client.ts'
import type { Loader } from './loader.ts'
import type { Opened } from './state.ts'
import type { Store } from './store.ts'
import { clean } from './text.ts'
import type { ViewName } from './view.ts'
import { VIEWS } from './views/all.ts'

/** Lines around the list: two of the head, one for messages, the table's head, one of the foot. */
const FRAME_LINES = 5

/** How the person who looks gets about; nothing of this changes anything at the service. */
export function createMoves({ client, store, loader }: { client: Client; store: Store; loader: Loader }) {
  const { state } = store
  const show = (name: ViewName): void => {
    if (name === state().view && !state().opened) return
    store.set({ view: name, opened: null, filtering: false })
    void loader.load()
  }
  const open = (): void => {
    const row = store.current()
    if (!row) return
    if (row.children) {
      fold(!store.look().folded.has(row.id))
      return
    }
    const { loadDetail } = VIEWS[state().view]
    const opened: Opened = { id: row.id, more: loadDetail ? null : [], scroll: 0 }
    store.set({ opened })
    if (!loadDetail) return
    const done = (more: Opened['more']): void => {
      const { opened } = state()
      if (opened?.id === row.id) store.set({ opened: { ...opened, more } })
    }
    loadDetail(client, row.id).then(done, (error: unknown) => done(['', `✖ ${clean(String(error))}`]))
  }
  const fold = (folded: boolean): void => {
    const row = store.current()
    if (!row?.children) return
    const next = new Set(store.look().folded)
    if (folded) next.add(row.id)
    else next.delete(row.id)
    store.setLook({ folded: next })
  }
  const setFilter = (filter: string): void => {
    store.setLook({ filter })
    store.select(store.position())
    // The service may know of more than is listed.
    void loader.load()
  }
  const nextSort = (): void => {
    const { column, down } = store.look().sort
    const columns = VIEWS[state().view].columns.flatMap(({ from = 0 }, index) =>
      state().size.columns >= from ? index : [],
    )
    const at = columns.indexOf(column)
    store.setLook({
      sort: down ? { column: columns[(at + 1) % columns.length] ?? 0, down: false } : { column, down: true },
    })
  }
  const pause = (): void => {
    store.set({ paused: !state().paused })
    if (!state().paused) void loader.load()
  }
  const page = (): number => Math.max(1, state().size.rows - FRAME_LINES - 6)
  const move = (by: number): void => {
    const { opened } = state()
    if (opened) store.set({ opened: { ...opened, scroll: Math.max(0, opened.scroll + by) } })
    else store.select(store.position() + by)
  }
  return { show, open, fold, setFilter, nextSort, pause, page, move }
}
