import { createActions } from './actions.ts'
import type { Client } from './client.ts'
import type { Key } from './keys.ts'
import { createLoader } from './loader.ts'
import { createPress } from './press.ts'
import type { State } from './state.ts'
import { createStore, type Store } from './store.ts'
import type { ViewName } from './view.ts'

/** Everything that the program shows and does, apart from the terminal that it is drawn on. */
export interface Dashboard extends Pick<Store, 'state' | 'subscribe' | 'listed' | 'position' | 'current'> {
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

export function createDashboard({ client, view, readOnly, onEnd, now = Date.now }: DashboardOptions): Dashboard {
  const store = createStore({ view, readOnly, now })
  const loader = createLoader({ client, store })
  const actions = createActions({ client, store, loader })
  const { state, subscribe, listed, position, current } = store
  return {
    state,
    subscribe,
    listed,
    position,
    current,
    press: createPress({ store, loader, actions, onEnd }),
    resize: (size) => store.set({ size }),
    start: loader.start,
    stop: loader.stop,
  }
}
