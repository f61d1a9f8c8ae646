import { isFinalLeaseState } from '../wire/flow-ends.ts'
import { type Client, OpsError } from './client.ts'
import type { Loader } from './loader.ts'
import type { Purge } from './state.ts'
import type { Store } from './store.ts'
import { clean, counted } from './text.ts'
import type { Target } from './view.ts'

type TargetOf<K extends Target['kind']> = Extract<Target, { kind: K }>

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
  /**
   * What an action is about: the row that is opened, or that was selected. Undefined where that is of no such kind, where nothing may be
   * changed, and where the selected row is gone: never another one that has come into its place.
   */
  target<K extends Target['kind']>(kind: K): TargetOf<K> | undefined
}

export function createActions({ client, store, loader }: { client: Client; store: Store; loader: Loader }): Actions {
  const { state } = store
  const act = async (what: Promise<string>): Promise<void> => {
    try {
      store.say(await what)
      if (!state().paused) void loader.load()
    } catch (error) {
      if (!(error instanceof OpsError)) throw error
      // It may have been lost on its way back.
      const unknown = error.kind === 'lost' ? '; whether it was done is not known' : ''
      store.say(`✖ ${error.message}${unknown}`)
    }
  }
  const changing = (): boolean => {
    if (state().readOnly) store.say('read-only: nothing is changed')
    return !state().readOnly
  }
  const target = <K extends Target['kind']>(kind: K): TargetOf<K> | undefined => {
    const row = store.current()
    if (row?.target?.kind !== kind || !changing()) return undefined
    if (state().opened || row.id === store.look().selected) return row.target as TargetOf<K>
    store.select(store.position())
    store.say('the row that was selected is listed no more: nothing was done')
    return undefined
  }
  const openPurge = async (whole: 'connection' | 'user'): Promise<void> => {
    const chosen = target('connection')
    if (!chosen) return
    // Of this dialog alone: the same row may have another one by the time of an answer.
    const of = { ...chosen }
    const expected = whole === 'connection' ? of.id : clean(of.userRef)
    const opened = { kind: 'purge', target: of, whole, expected, typed: '', preview: null, problem: null } as const
    store.set({ dialog: { ...opened, running: false } })
    /** It may have been closed meanwhile. */
    const change = (found: Pick<Purge, 'preview'> | Pick<Purge, 'problem'>): void => {
      const { dialog } = state()
      if (dialog?.kind === 'purge' && dialog.target === of) store.set({ dialog: { ...dialog, ...found } })
    }
    try {
      change({ preview: await client('purge', { query: { dryRun: 'true' }, body: purgeBody(whole, of) }) })
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
  const retry = async (id: string) => (await client('retryDelivery', { params: { id } })).result
  const replay = async (id: string): Promise<string> =>
    (await retry(id)) === 'reopened' ? `delivery ${id} is sent again` : `an attempt of delivery ${id} is under way`
  let replaying = false
  const replayAll = async (ids: string[]): Promise<string> => {
    if (replaying) return 'deliveries are being replayed already: nothing was begun'
    replaying = true
    try {
      return await replayEach(ids)
    } finally {
      replaying = false
    }
  }
  /** One that the service refuses, since it is gone, say, holds up no other. */
  const replayEach = async (ids: string[]): Promise<string> => {
    const came = { reopened: 0, 'under way': 0, refused: 0 }
    const told = (): string =>
      [
        `${came.reopened} of ${ids.length} deliveries are sent again`,
        ...(came['under way'] > 0 ? [`${came['under way']} under way`] : []),
        ...(came.refused > 0 ? [`✖ ${came.refused} refused`] : []),
      ].join(', ')
    for (const id of ids) {
      const result = await retry(id).catch((error: unknown) => {
        if (!(error instanceof OpsError)) throw error
        if (error.kind === 'failed') return 'refused' as const
        throw new OpsError(error.kind, `${told()}, then: ${error.message}`)
      })
      came[result] += 1
      store.say(told())
    }
    return told()
  }
  const release = async (id: string): Promise<string> => {
    const { state: was } = await client('releaseLease', { params: { id } })
    return isFinalLeaseState(was) ? `lease ${id} had ended before (${was})` : `lease ${id} is released (it was ${was})`
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
    target,
  }
}

const purgeBody = (
  whole: 'connection' | 'user',
  { id, appId, userRef }: { id: string; appId: string; userRef: string },
) => (whole === 'connection' ? { appId, connectionId: id } : { appId, userRef })
