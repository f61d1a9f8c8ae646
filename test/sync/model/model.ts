/** A connection as SPEC.md says it has to be. */
export interface ModelConnection {
  id: string
  app: number
  user: number
  account: number
  status: 'active' | 'needs_reauth' | 'revoked'
  replaces: string[]
  /** Told by `reauth.needed`. */
  reauths: number
  /** Names the history of its account in its app since the last purge. */
  archive: number
}

export interface ModelPurge {
  event: 'connection.deleted' | 'data.deleted'
  connectionIds: string[]
  conversationsDeleted: number
}

/** SPEC.md in memory: what logins, expiries and purges make of connections. */
export interface Model {
  connections: ModelConnection[]
  purges: ModelPurge[]
  /** Conversations deleted by purges, by archive. */
  deleted: Map<number, number>
  /** Whether a login of this user into this account may be connected, and what it makes of the others. */
  login(options: { app: number; user: number; account: number }): 'connected' | 'held'
  connect(options: { id: string; app: number; user: number; account: number }): void
  expire(account: number): ModelConnection[]
  purge(connections: ModelConnection[]): ModelConnection[]
}

export function createModel(): Model {
  const connections: ModelConnection[] = []
  let archives = 0
  const present = (app: number, account: number) =>
    connections.filter((each) => each.app === app && each.account === account && each.status !== 'revoked')
  return {
    connections,
    purges: [],
    deleted: new Map(),
    login: ({ app, user, account }) =>
      present(app, account).some((each) => each.user !== user) ? 'held' : 'connected',
    connect: ({ id, app, user, account }) => {
      const previous = present(app, account)
      const archive = previous[0]?.archive ?? archives++
      for (const each of previous) each.status = 'revoked'
      const replaces = previous.map((each) => each.id)
      connections.push({ id, app, user, account, status: 'active', replaces, reauths: 0, archive })
    },
    expire: (account) => {
      const active = connections.filter((each) => each.account === account && each.status === 'active')
      for (const each of active) {
        each.status = 'needs_reauth'
        each.reauths += 1
      }
      return active
    },
    purge: (targets) => {
      const purged = targets.filter(({ status }) => status !== 'revoked')
      for (const each of purged) each.status = 'revoked'
      return purged
    },
  }
}
