import type { Actions } from './actions.ts'
import type { Key } from './keys.ts'
import type { Loader } from './loader.ts'
import { createMoves } from './moves.ts'
import type { Store } from './store.ts'
import { VIEW_NAMES } from './view.ts'

/** What each key does: in the filter, in a dialog, anywhere else. */
export function createPress({
  store,
  loader,
  actions,
  onEnd,
}: {
  store: Store
  loader: Loader
  actions: Actions
  onEnd: () => void
}): (key: Key) => void {
  const { state } = store
  const { show, open, fold, setFilter, nextSort, pause, page, move } = createMoves({ store, loader })
  const pressInFilter = (key: Key): void => {
    const { filter } = store.look()
    if (key.name === 'text') setFilter(filter + key.text)
    else if (key.name === 'backspace') setFilter([...filter].slice(0, -1).join(''))
    else if (key.name === 'clear') setFilter('')
    else if (key.name === 'enter') store.set({ filtering: false })
    else if (key.name === 'escape') {
      store.set({ filtering: false })
      setFilter('')
    } else if (key.name === 'up') move(-1)
    else if (key.name === 'down') move(1)
  }
  const pressInDialog = (key: Key): void => {
    const { dialog } = state()
    if (dialog?.kind !== 'purge') {
      store.set({ dialog: null })
      if (dialog?.kind === 'replay-all' && key.name === 'enter') actions.replayAll(dialog.ids)
      return
    }
    if (dialog.running) return
    const type = (typed: string): void => store.set({ dialog: { ...dialog, typed } })
    if (key.name === 'escape') {
      store.set({ dialog: null })
      store.say('nothing was deleted')
    } else if (key.name === 'text') type(dialog.typed + key.text)
    else if (key.name === 'backspace') type([...dialog.typed].slice(0, -1).join(''))
    else if (key.name === 'clear') type('')
    else if (key.name === 'enter' && dialog.preview) {
      if (dialog.typed !== dialog.expected) {
        store.set({ dialog: null })
        store.say('what was typed is not the same: nothing was deleted')
        return
      }
      store.set({ dialog: { ...dialog, running: true } })
      actions.purge()
    }
  }
  const COMMANDS: Record<string, () => void> = {
    q: onEnd,
    '/': () => store.set({ filtering: true, opened: null }),
    '?': () => store.set({ dialog: { kind: 'help' } }),
    ' ': pause,
    j: () => move(1),
    k: () => move(-1),
    g: () => move(Number.NEGATIVE_INFINITY),
    G: () => move(1e9),
    s: nextSort,
    S: () => state().opened || store.setLook({ sort: { ...store.look().sort, down: !store.look().sort.down } }),
    p: () => void actions.openPurge('connection'),
    P: () => void actions.openPurge('user'),
    r: () => {
      const target = actions.target('delivery')
      if (target) actions.replay(target.id)
    },
    R: () => {
      if (state().view !== 'deliveries' || state().opened || !actions.changing()) return
      const ids = store
        .listed()
        .flatMap(({ row: { target } }) => (target?.kind === 'delivery' && !target.ended ? target.id : []))
      if (ids.length > 0) store.set({ dialog: { kind: 'replay-all', ids } })
    },
    x: () => {
      const target = actions.target('lease')
      if (target) actions.release(target.id)
    },
    y: () => {
      const target = actions.target('connection')
      if (target) actions.sync(target.id)
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
      if (!state().opened) open()
    },
    escape: () => {
      if (state().opened) store.set({ opened: null })
      else if (store.look().filter !== '') setFilter('')
    },
  }
  const press = (key: Key): void => {
    if (key.name === 'interrupt') onEnd()
    else if (state().dialog) pressInDialog(key)
    else if (state().filtering) pressInFilter(key)
    else if (key.name !== 'text') NAMED[key.name]?.()
    else {
      const name = VIEW_NAMES[Number(key.text) - 1]
      if (name) show(name)
      else COMMANDS[key.text]?.()
    }
  }
  return press
}
