import type { ProviderProfile } from '../../../provider/profile.ts'
import { type Connection, type ConnectionStatus, Connections } from '../../../schemas/connection/connection.ts'
import { connectionProgress } from '../../../schemas/connection/progress.ts'
import { Users } from '../../../schemas/user/user.ts'

/** Bounds what one page holds; far above what a user connects in a lifetime. */
const MOST_CONNECTIONS = 1_000

/** One connection as its user sees it. */
export interface ManagedConnection {
  /** The provider's name for people. */
  provider: string
  status: ConnectionStatus
  capturedAt: Date
  lastSyncAt: Date | null
  conversationCount: number
  /** Tells accounts of one provider apart; says nothing of whose they are. */
  accountMark: string
  /** Somebody is reading the account at this moment. */
  syncing: boolean
  /** While the history is being imported; `total` is what the provider says it has, null before it was asked. */
  importing: { total: number | null } | null
}

type Listed = Pick<
  Connection,
  '_id' | 'provider' | 'status' | 'capturedAt' | 'lastSyncAt' | 'accountId' | 'archiveId' | 'claimedBy'
>

const MARK_LENGTH = 4

/** The user's connections in the app: those that hold data first, each newest capture first. Empty for an unknown user. */
export async function managedConnections({
  appId,
  userRef,
  profiles,
}: {
  appId: string
  userRef: string
  profiles: ProviderProfile[]
}): Promise<ManagedConnection[]> {
  const user = await Users.findOne({ appId, userRef }).select({ _id: 1 }).lean<{ _id: string }>()
  if (!user) return []
  const connections = await Connections.find({ appId, userId: user._id })
    .select({ provider: 1, status: 1, capturedAt: 1, lastSyncAt: 1, accountId: 1, archiveId: 1, claimedBy: 1 })
    .sort({ capturedAt: -1, _id: -1 })
    .limit(MOST_CONNECTIONS)
    .lean<Listed[]>()
  const progress = await connectionProgress(connections)
  const names = new Map(profiles.map(({ id, displayName }) => [id, displayName]))
  return connections
    .map(({ _id, provider, status, capturedAt, lastSyncAt, accountId, claimedBy }): ManagedConnection => {
      const { stored = 0, total = null, done = false } = progress.get(_id) ?? {}
      return {
        provider: names.get(provider) ?? provider,
        status,
        capturedAt,
        lastSyncAt: lastSyncAt ?? null,
        conversationCount: stored,
        accountMark: accountId.slice(-MARK_LENGTH).toUpperCase(),
        syncing: claimedBy !== undefined,
        importing: status === 'revoked' || done ? null : { total },
      }
    })
    .sort((a, b) => Number(a.status === 'revoked') - Number(b.status === 'revoked'))
}

/** Those that still hold something to delete. */
export const heldConnections = (connections: ManagedConnection[]): ManagedConnection[] =>
  connections.filter(({ status }) => status !== 'revoked')
