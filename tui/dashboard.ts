import { type Client, OpsError } from './client.ts'
import { createHistory } from './history.ts'
import type { Key } from './keys.ts'
import { type Listed, listRows } from './rows.ts'
import type { Look, Opened, State } from './state.ts'
import { clean, counted } from './text.ts'
import { VIEW_NAMES, type ViewName } from './view.ts'
import { VIEWS } from './views/all.ts'

const REFRESH_MS = 2_000
const TICK_MS = 1_000
/** So long the outcome of an action is shown. */
const MESSAGE_MS = 12_000
/** Lines around the list: two of the head, one for messages, the table's head, one of the foot. */
const FRAME_LINES = 5
export const LEAST = { columns: 80, rows: 24 }

/** Everything that the program shows and does, apart from the terminal that it is drawn on. */
export interface Dashboard {
  state(): State
  subscribe(listener: () => void): () => void
  /** What is listed of the present view. */
  listed(): Listed[]
  /** Where the selected row stands. */
  position(): number
  press(key: Key): void
  resize(size: State['size']): void
  start(): void
  stop(): void
}

interface DashboardOptions {
  client: Client
  view: ViewName
  readOnly: boolean
  onEnd: () => void
  now?: () => number
}

const initialLook = (view: ViewName): Look => ({
  filter: '',
  sort: VIEWS[view].sort,
  folded: new Set(),
  selected: null,
  position: 0,
})

export function createDashboard({ client, view, readOnly, onEnd, now = Date.now }: DashboardOptions): Dashboard {
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
  const current = () => listed()[position()]?.row
  const select = (index: number): void => {
    const rows = listed()
    const position = Math.max(0, Math.min(index, rows.length - 1))
    setLook({ position, selected: rows[position]?.row.id ?? null })
  }

  // Loading
  let timer: NodeJS.Timeout | undefined
  let ticker: NodeJS.Timeout | undefined
  let loading: AbortController | undefined
  let stopped = true
  const load = async (): Promise<void> => {
    clearTimeout(timer)
    loading?.abort()
    if (stopped) return
    const mine = new AbortController()
    loading = mine
    const name = state.view
    try {
      const data = await VIEWS[name].load(client, { q: look().filter.trim(), signal: mine.signal })
      if (mine.signal.aborted) return
      const kept = { ...state.loaded, [name]: { data, at: now() } }
      history.note(name === 'overview' ? data : undefined, now())
      const first = state.loaded[name] === undefined
      set({ loaded: kept, trouble: null, now: now(), history: history.values(now()) })
      if (look().selected === null || first) select(position())
      if (name !== 'overview' && history.isDue(now())) history.note(await client('getOverview'), now())
    } catch (error) {
      if (mine.signal.aborted) return
      if (!(error instanceof OpsError)) throw error
      fail(error)
    } finally {
      if (loading === mine) timer = setTimeout(refresh, REFRESH_MS)
    }
  }
  const fail = (error: OpsError): void => {
    const message =
      error.kind === 'lost'
        ? `SERVICE LOST: ${error.message}`
        : error.kind === 'refused'
          ? `KEY REFUSED: ${error.message}`
          : error.message
    set({ trouble: { message: clean(message), since: state.trouble?.since ?? now() } })
  }
  const refresh = (): void => {
    if (!state.paused) void load()
  }
  const tick = (): void => {
    const message = state.message && now() - state.message.at > MESSAGE_MS ? null : state.message
    set({ now: now(), message })
  }

  // Actions
  const act = async (what: Promise<string>): Promise<void> => {
    try {
      say(await what)
      if (!state.paused) void load()
    } catch (error) {
      if (!(error instanceof OpsError)) throw error
      say(`✖ ${error.message}`)
    }
  }
  const changing = (): boolean => {
    if (state.readOnly) say('read-only: nothing is changed')
    return !state.readOnly
  }
  const openPurge = async (whole: 'connection' | 'user'): Promise<void> => {
    const target = current()?.target
    if (target?.kind !== 'connection' || !changing()) return
    const expected = whole === 'connection' ? target.id : clean(target.userRef)
    const opened = { kind: 'purge', target, whole, expected, typed: '', preview: null, problem: null } as const
    set({ dialog: { ...opened, running: false } })
    try {
      const preview = await client('purge', { query: { dryRun: 'true' }, body: purgeBody(whole, target) })
      if (state.dialog?.kind === 'purge' && state.dialog.target === target)
        set({ dialog: { ...state.dialog, preview } })
    } catch (error) {
      if (!(error instanceof OpsError)) throw error
      if (state.dialog?.kind === 'purge') set({ dialog: { ...state.dialog, problem: clean(error.message) } })
    }
  }
  const runPurge = async (): Promise<string> => {
    const { dialog } = state
    if (dialog?.kind !== 'purge') return ''
    const { whole, target } = dialog
    try {
      const done = await client('purge', { body: purgeBody(whole, target) })
      return `purged: ${counted(done.connectionsRevoked, 'connection')} revoked, ${counted(done.conversationsDeleted, 'conversation')} deleted`
    } finally {
      set({ dialog: null })
    }
  }
  const replay = async (id: string): Promise<string> => {
    const { result } = await client('retryDelivery', { params: { id } })
    return result === 'reopened' ? `delivery ${id} is sent again` : `an attempt of delivery ${id} is under way`
  }
  const replayAll = async (ids: string[]): Promise<string> => {
    set({ dialog: null })
    let done = 0
    for (const id of ids) {
      await replay(id)
      done += 1
      say(`${done} of ${ids.length} deliveries are sent again`)
    }
    return `${done} deliveries are sent again`
  }
  const release = async (id: string): Promise<string> => {
    const { state: was } = await client('releaseLease', { params: { id } })
    return `lease ${id} is released (it was ${was})`
  }
  const sync = async (id: string): Promise<string> => {
    say(`connection ${id}: a sync is asked for`)
    const { accepted } = await client('syncConnection', { params: { id } })
    return accepted
      ? `connection ${id} is synced now`
      : `connection ${id} is not synced: a sync is under way, or its session has ended`
  }

  // Moving about
  const show = (name: ViewName): void => {
    if (name === state.view && !state.opened) return
    set({ view: name, opened: null, filtering: false })
    void load()
  }
  const open = (): void => {
    const row = current()
    if (!row) return
    if (row.children) {
      fold(!look().folded.has(row.id))
      return
    }
    const { loadDetail } = VIEWS[state.view]
    const opened: Opened = { id: row.id, more: loadDetail ? null : [], scroll: 0 }
    set({ opened })
    if (!loadDetail) return
    const done = (more: Opened['more']): void => {
      if (state.opened?.id === row.id) set({ opened: { ...state.opened, more } })
    }
    loadDetail(client, row.id).then(done, (error: unknown) => done(['', `✖ ${clean(String(error))}`]))
  }
  const fold = (folded: boolean): void => {
    const row = current()
    if (!row?.children) return
    const next = new Set(look().folded)
    if (folded) next.add(row.id)
    else next.delete(row.id)
    setLook({ folded: next })
  }
  const setFilter = (filter: string): void => {
    setLook({ filter })
    select(position())
    // The service may know of more than is listed.
    void load()
  }
  const nextSort = (): void => {
    const { column, down } = look().sort
    const columns = VIEWS[state.view].columns.flatMap(({ from = 0 }, index) =>
      state.size.columns >= from ? index : [],
    )
    const at = columns.indexOf(column)
    setLook({ sort: down ? { column: columns[(at + 1) % columns.length] ?? 0, down: false } : { column, down: true } })
  }
  const pause = (): void => {
    set({ paused: !state.paused })
    if (!state.paused) void load()
  }
  const page = (): number => Math.max(1, state.size.rows - FRAME_LINES - 6)
  const move = (by: number): void => {
    if (state.opened) set({ opened: { ...state.opened, scroll: Math.max(0, state.opened.scroll + by) } })
    else select(position() + by)
  }

  const pressInFilter = (key: Key): void => {
    const { filter } = look()
    if (key.name === 'text') setFilter(filter + key.text)
    else if (key.name === 'backspace') setFilter([...filter].slice(0, -1).join(''))
    else if (key.name === 'clear') setFilter('')
    else if (key.name === 'enter') set({ filtering: false })
    else if (key.name === 'escape') {
      set({ filtering: false })
      setFilter('')
    } else if (key.name === 'up') move(-1)
    else if (key.name === 'down') move(1)
  }
  const pressInDialog = (key: Key): void => {
    const { dialog } = state
    if (dialog?.kind !== 'purge') {
      set({ dialog: null })
      if (dialog?.kind === 'replay-all' && key.name === 'enter') void act(replayAll(dialog.ids))
      return
    }
    if (dialog.running) return
    const type = (typed: string): void => set({ dialog: { ...dialog, typed } })
    if (key.name === 'escape') {
      set({ dialog: null })
      say('nothing was deleted')
    } else if (key.name === 'text') type(dialog.typed + key.text)
    else if (key.name === 'backspace') type([...dialog.typed].slice(0, -1).join(''))
    else if (key.name === 'clear') type('')
    else if (key.name === 'enter' && dialog.preview) {
      if (dialog.typed !== dialog.expected) {
        set({ dialog: null })
        say('what was typed is not the same: nothing was deleted')
        return
      }
      set({ dialog: { ...dialog, running: true } })
      void act(runPurge())
    }
  }
  const COMMANDS: Record<string, () => void> = {
    q: onEnd,
    '/': () => set({ filtering: true, opened: null }),
    '?': () => set({ dialog: { kind: 'help' } }),
    ' ': pause,
    j: () => move(1),
    k: () => move(-1),
    g: () => move(Number.NEGATIVE_INFINITY),
    G: () => move(1e9),
    s: nextSort,
    S: () => setLook({ sort: { ...look().sort, down: !look().sort.down } }),
    p: () => void openPurge('connection'),
    P: () => void openPurge('user'),
    r: () => {
      const target = current()?.target
      if (target?.kind === 'delivery' && changing()) void act(replay(target.id))
    },
    R: () => {
      if (state.view !== 'deliveries' || state.opened || !changing()) return
      const ids = listed().flatMap(({ row: { target } }) =>
        target?.kind === 'delivery' && !target.ended ? target.id : [],
      )
      if (ids.length > 0) set({ dialog: { kind: 'replay-all', ids } })
    },
    x: () => {
      const target = current()?.target
      if (target?.kind === 'lease' && changing()) void act(release(target.id))
    },
    y: () => {
      const target = current()?.target
      if (target?.kind === 'connection' && changing()) void act(sync(target.id))
    },
  }
  const NAMED: Partial<Record<Key['name'], () => void>> = {
    up: () => move(-1),
    down: () => move(1),
    'page-up': () => move(-page()),
    'page-down': () => move(page()),
    home: () => move(Number.NEGATIVE_INFINITY),
    end: () => move(1e9),
    left: () => fold(true),
    right: () => fold(false),
    enter: () => {
      if (!state.opened) open()
    },
    escape: () => {
      if (state.opened) set({ opened: null })
      else if (look().filter !== '') setFilter('')
    },
  }
  const press = (key: Key): void => {
    if (key.name === 'interrupt') onEnd()
    else if (state.dialog) pressInDialog(key)
    else if (state.filtering) pressInFilter(key)
    else if (key.name !== 'text') NAMED[key.name]?.()
    else {
      const name = VIEW_NAMES[Number(key.text) - 1]
      if (name) show(name)
      else COMMANDS[key.text]?.()
    }
  }

  return {
    state: () => state,
    subscribe: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    listed,
    position,
    press,
    resize: (size) => set({ size }),
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

const purgeBody = (
  whole: 'connection' | 'user',
  { id, appId, userRef }: { id: string; appId: string; userRef: string },
) => (whole === 'connection' ? { appId, connectionId: id } : { appId, userRef })
