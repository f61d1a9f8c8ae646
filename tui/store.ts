import { createHistory } from './history.ts'
import { type Listed, listRows } from './rows.ts'
import type { Look, State } from './state.ts'
import { clean } from './text.ts'
import { type Row, VIEW_NAMES, type ViewName } from './view.ts'
import { VIEWS } from './views/all.ts'

/** The least size (characters) that everything can be seen in. */
export const LEAST = { columns: 80, rows: 24 }

/** What is shown, and how it is looked at. */
export interface Store {
  state(): State
  subscribe(listener: () => void): () => void
  set(change: Partial<State>): void
  /** Of the present view. */
  look(): Look
  setLook(change: Partial<Look>): void
  /** Shows what came of an action. */
  say(text: string): void
  /** What is listed of the present view. */
  listed(): Listed[]
  /** Where the selected row stands. */
  position(): number
  /** The row that keys act on: the opened one, whatever is listed meanwhile, or the selected one. */
  current(): Row | undefined
  select(index: number): void
  history: ReturnType<typeof createHistory>
  now(): number
}

const initialLook = (view: ViewName): Look => ({
  filter: '',
  sort: VIEWS[view].sort,
  folded: new Set(),
  selected: null,
  position: 0,
})

export function createStore({ view, readOnly, now }: { view: ViewName; readOnly: boolean; now: () => number }): Store {
  const history = createHistory()
  let state: State = {
    view,
    readOnly,
    now: now(),
    size: LEAST,
    loaded: {},
    looks: Object.fromEntries(VIEW_NAMES.map((name) => [name, initialLook(name)])) as State['looks'],
    opened: null,
    filtering: false,
    dialog: null,
    paused: false,
    trouble: null,
    message: null,
    history: history.values(now()),
  }
  const listeners = new Set<() => void>()
  const set = (change: Partial<State>): void => {
    state = { ...state, ...change }
    for (const listener of listeners) listener()
  }
  const look = (): Look => state.looks[state.view]
  const setLook = (change: Partial<Look>): void =>
    set({ looks: { ...state.looks, [state.view]: { ...look(), ...change } } })
  const say = (text: string): void => set({ message: { text: clean(text), at: now() } })

  let cached: { of: readonly unknown[]; listed: Listed[] } | undefined
  const listed = (): Listed[] => {
    const { loaded, now, history, size } = state
    const data = loaded[state.view]?.data
    const { filter, sort, folded } = look()
    // A key that only moves makes no list anew.
    const of = [state.view, data, now, history, size, filter, sort, folded]
    if (cached?.of.every((part, index) => part === of[index])) return cached.listed
    const rows = data === undefined ? [] : VIEWS[state.view].rows(data, { now, history, width: size.columns })
    cached = { of, listed: listRows(rows, { filter, sort, folded }) }
    return cached.listed
  }
  /** The selection follows its row; where that is gone it stays where it was. */
  const position = (): number => {
    const rows = listed()
    const { selected, position } = look()
    const found = selected === null ? -1 : rows.findIndex(({ row }) => row.id === selected)
    return found >= 0 ? found : Math.max(0, Math.min(position, rows.length - 1))
  }
  const current = (): Row | undefined => {
    const { opened } = state
    if (!opened) return listed()[position()]?.row
    return listed().find(({ row }) => row.id === opened.row.id)?.row ?? opened.row
  }
  const select = (index: number): void => {
    const rows = listed()
    const position = Math.max(0, Math.min(index, rows.length - 1))
    setLook({ position, selected: rows[position]?.row.id ?? null })
  }
  return {
    state: () => state,
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    set,
    look,
    setLook,
    say,
    listed,
    position,
    current,
    select,
    history,
    now,
  }
}
