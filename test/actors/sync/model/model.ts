import type { PurgeResult } from '../../../../sdk/src/index.ts'

/** A connection as it has to be (docs/behaviour.md, Connection). */
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

interface ModelPurge {
  event: 'connection.deleted' | 'data.deleted'
  connections: ModelConnection[]
  /** Absent where the purge took longer than its request. */
  answer?: PurgeResult
}

/** The promises in memory (docs/behaviour.md, States): what logins, expiries and purges make of connections. */
export interface Model {
  connections: ModelConnection[]
  purges: ModelPurge[]
  /** Newest first, as the API lists them; null for a user who never came. */
  listed(user: ModelUser): ModelConnection[] | null
  /** The connection that holds an account in an app. */
  holder(options: { app: number; account: number }): ModelConnection | undefined
  /** Whether a login of this user into this account may be connected. */
  login(options: ModelUser & { account: number }): 'connected' | 'held'
  connect(options: ModelUser & { id: string; account: number }): ModelConnection
  expire(account: number): ModelConnection[]
  purge(connections: ModelConnection[]): ModelConnection[]
}

/** Users have the same userRefs in both apps. */
export interface ModelUser {
  app: number
  user: number
}

export function createModel(): Model {
  const connections: ModelConnection[] = []
  const users = new Set<string>()
  let archives = 0
  const nameOf = ({ app, user }: ModelUser) => `${app} ${user}`
  const holder: Model['holder'] = ({ app, account }) =>
    connections.find((each) => each.app === app && each.account === account && each.status !== 'revoked')
  return {
    connections,
    purges: [],
    listed: (user) =>
      users.has(nameOf(user)) ? connections.filter((each) => nameOf(each) === nameOf(user)).reverse() : null,
    holder,
    login: ({ app, user, account }) => {
      users.add(nameOf({ app, user }))
      return (holder({ app, account })?.user ?? user) === user ? 'connected' : 'held'
    },
    connect: ({ id, app, user, account }) => {
      const previous = holder({ app, account })
      const archive = previous?.archive ?? archives++
      if (previous) previous.status = 'revoked'
      const replaces = previous ? [previous.id] : []
      const made: ModelConnection = { id, app, user, account, status: 'active', replaces, reauths: 0, archive }
      connections.push(made)
      return made
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
