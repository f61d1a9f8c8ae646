import { type Client, OpsError } from './client.ts'
import type { Loader } from './loader.ts'
import type { Purge } from './state.ts'
import type { Store } from './store.ts'
import { clean, counted } from './text.ts'

/** What the program does at the service, and says when it is done. */
export interface Actions {
  openPurge(whole: 'connection' | 'user'): Promise<void>
  /** What was asked for in the dialog that is open. */
  purge(): void
  replay(id: string): void
  replayAll(ids: string[]): void
  release(id: string): void
  sync(id: string): void
  /** Whether anything may be changed; says so where not. */
  changing(): boolean
}

export function createActions({ client, store, loader }: { client: Client; store: Store; loader: Loader }): Actions {
  const { state } = store
  const act = async (what: Promise<string>): Promise<void> => {
    try {
      store.say(await what)
      if (!state().paused) void loader.load()
    } catch (error) {
      if (!(error instanceof OpsError)) throw error
      store.say(`✖ ${error.message}`)
    }
  }
  const changing = (): boolean => {
    if (state().readOnly) store.say('read-only: nothing is changed')
    return !state().readOnly
  }
  const openPurge = async (whole: 'connection' | 'user'): Promise<void> => {
    const target = store.current()?.target
    if (target?.kind !== 'connection' || !changing()) return
    const expected = whole === 'connection' ? target.id : clean(target.userRef)
    const opened = { kind: 'purge', target, whole, expected, typed: '', preview: null, problem: null } as const
    store.set({ dialog: { ...opened, running: false } })
    /** It may have been closed meanwhile. */
    const change = (found: Pick<Purge, 'preview'> | Pick<Purge, 'problem'>): void => {
      const { dialog } = state()
      if (dialog?.kind === 'purge' && dialog.target === target) store.set({ dialog: { ...dialog, ...found } })
    }
    try {
      change({ preview: await client('purge', { query: { dryRun: 'true' }, body: purgeBody(whole, target) }) })
    } catch (error) {
      if (!(error instanceof OpsError)) throw error
      change({ problem: clean(error.message) })
    }
  }
  const runPurge = async (): Promise<string> => {
    const { dialog } = state()
    if (dialog?.kind !== 'purge') return ''
    const { whole, target } = dialog
    try {
      const done = await client('purge', { body: purgeBody(whole, target) })
      return `purged: ${counted(done.connectionsRevoked, 'connection')} revoked, ${counted(done.conversationsDeleted, 'conversation')} deleted`
    } finally {
      store.set({ dialog: null })
    }
  }
  const replay = async (id: string): Promise<string> => {
    const { result } = await client('retryDelivery', { params: { id } })
    return result === 'reopened' ? `delivery ${id} is sent again` : `an attempt of delivery ${id} is under way`
  }
  const replayAll = async (ids: string[]): Promise<string> => {
    store.set({ dialog: null })
    let done = 0
    for (const id of ids) {
      await replay(id)
      done += 1
      store.say(`${done} of ${ids.length} deliveries are sent again`)
    }
    return `${done} deliveries are sent again`
  }
  const release = async (id: string): Promise<string> => {
    const { state: was } = await client('releaseLease', { params: { id } })
    return `lease ${id} is released (it was ${was})`
  }
  const sync = async (id: string): Promise<string> => {
    store.say(`connection ${id}: a sync is asked for`)
    const { accepted } = await client('syncConnection', { params: { id } })
    return accepted
      ? `connection ${id} is synced now`
      : `connection ${id} is not synced: a sync is under way, or its session has ended`
  }
  return {
    openPurge,
    purge: () => void act(runPurge()),
    replay: (id) => void act(replay(id)),
    replayAll: (ids) => void act(replayAll(ids)),
    release: (id) => void act(release(id)),
    sync: (id) => void act(sync(id)),
    changing,
  }
}

const purgeBody = (
  whole: 'connection' | 'user',
  { id, appId, userRef }: { id: string; appId: string; userRef: string },
) => (whole === 'connection' ? { appId, connectionId: id } : { appId, userRef })
