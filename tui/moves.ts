import type { Loader } from './loader.ts'
import { openedLines } from './opened.ts'
import type { Store } from './store.ts'
import type { ViewName } from './view.ts'
import { VIEWS } from './views/all.ts'

/** Lines around what is shown: two of the head, one for messages, one of the foot, and the last, which stays free. */
const FRAME_LINES = 5

/** How the person who looks gets about; nothing of this changes anything at the service. */
export function createMoves({ store, loader }: { store: Store; loader: Loader }) {
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
    const more = VIEWS[state().view].loadDetail ? null : []
    store.set({ opened: { row, more, askedAt: Number.NEGATIVE_INFINITY, scroll: 0 } })
    void loader.loadOpened()
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
    if (state().opened) return
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
    const { opened, size } = state()
    if (opened) {
      const last = Math.max(0, openedLines(store).length - (size.rows - FRAME_LINES))
      const scroll = Math.max(0, Math.min(last, Math.min(last, opened.scroll) + by))
      store.set({ opened: { ...opened, scroll } })
    } else store.select(store.position() + by)
  }
  return { show, open, fold, setFilter, nextSort, pause, page, move }
}
