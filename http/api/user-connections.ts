import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { createKnownUsers } from '../../schemas/user/known-users.ts'
import type { ConnectionView } from '../../wire/connections.ts'
import { createArchiveCounts } from './archive-counts.ts'
import type { Versioned } from './archive-version.ts'

/** Bounds what one answer holds; far above what a user connects in a lifetime. */
const MOST_CONNECTIONS = 1_000

type Listed = Versioned &
  Pick<Connection, 'provider' | 'status' | 'capturedAt' | 'lastSyncAt' | 'accountId' | 'archiveId'>

const LISTED = {
  provider: 1,
  status: 1,
  capturedAt: 1,
  lastSyncAt: 1,
  accountId: 1,
  archiveId: 1,
  fence: 1,
  claimedBy: 1,
  settled: 1,
} as const

export type ConnectionLister = (user: { appId: string; userRef: string }) => Promise<ConnectionView[]>

/** Lists a user's connections as docs/behaviour.md, Connection shows them, newest capture first. Throws `user_not_found`. */
export function createConnectionLister({ clock }: { clock: Clock }): ConnectionLister {
  const count = createArchiveCounts({ clock })
  const isKnown = createKnownUsers()
  return async ({ appId, userRef }) => {
    if (!(await isKnown({ appId, userRef }))) throw new ServiceError('user_not_found')
    const connections = await Connections.find({ appId, userRef })
      .select(LISTED)
      .sort({ capturedAt: -1, _id: -1 })
      .limit(MOST_CONNECTIONS)
      .lean<Listed[]>()
    const counts = await count(connections, clock.now())
    return connections.map((connection) => view(connection, counts(connection._id)))
  }
}

const view = (connection: Listed, counts: { all: number; recent: number }): ConnectionView => ({
  id: connection._id,
  provider: connection.provider,
  status: connection.status,
  capturedAt: connection.capturedAt.toISOString(),
  lastSyncAt: connection.lastSyncAt?.toISOString() ?? null,
  conversationCount: counts.all,
  recentConversationCount: counts.recent,
  accountId: connection.accountId,
})
