import { DAY } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { type Connection, Connections } from '../../schemas/connection.ts'
import { Conversations } from '../../schemas/conversation.ts'
import { Users } from '../../schemas/user.ts'
import { type ConnectionView, RECENT_WINDOW_DAYS } from '../../schemas/wire/connections.ts'

/** Bounds what one answer holds; far above what a user connects in a lifetime. */
const MOST_CONNECTIONS = 1_000

type Listed = Pick<Connection, '_id' | 'provider' | 'status' | 'capturedAt' | 'lastSyncAt' | 'accountId' | 'archiveId'>

/** A user's connections as SPEC.md shows them, newest capture first. Throws `user_not_found`. */
export async function listConnections({
  appId,
  userRef,
  now,
}: {
  appId: string
  userRef: string
  now: Date
}): Promise<ConnectionView[]> {
  const user = await Users.findOne({ appId, userRef }).select({ _id: 1 }).lean<{ _id: string }>()
  if (!user) throw new ServiceError('user_not_found')
  return viewConnections({ filter: { appId, userId: user._id }, now })
}

/** Connections with their counts: two indexed aggregates in all, whatever the number of connections. */
export async function viewConnections({
  filter,
  now,
}: {
  filter: { appId: string; userId: string }
  now: Date
}): Promise<ConnectionView[]> {
  const connections = await Connections.find(filter)
    .select({ provider: 1, status: 1, capturedAt: 1, lastSyncAt: 1, accountId: 1, archiveId: 1 })
    .sort({ capturedAt: -1, _id: -1 })
    .limit(MOST_CONNECTIONS)
    .lean<Listed[]>()
  const archiveIds = connections.flatMap(({ archiveId }) => archiveId ?? [])
  const since = new Date(now.getTime() - RECENT_WINDOW_DAYS * DAY)
  const [all, recent] = await Promise.all([
    countByArchive({ archiveIds }),
    countByArchive({ archiveIds, firstMessageAt: { $gte: since } }),
  ])
  return connections.map((connection) => ({
    id: connection._id,
    provider: connection.provider,
    status: connection.status,
    capturedAt: connection.capturedAt.toISOString(),
    lastSyncAt: connection.lastSyncAt?.toISOString() ?? null,
    conversationCount: all.get(connection.archiveId ?? '') ?? 0,
    recentConversationCount: recent.get(connection.archiveId ?? '') ?? 0,
    accountId: connection.accountId,
  }))
}

async function countByArchive({
  archiveIds,
  ...more
}: {
  archiveIds: string[]
  firstMessageAt?: { $gte: Date }
}): Promise<Map<string, number>> {
  if (archiveIds.length === 0) return new Map()
  const counts = await Conversations.aggregate<{ _id: string; count: number }>([
    { $match: { archiveId: { $in: archiveIds }, ...more } },
    { $group: { _id: '$archiveId', count: { $sum: 1 } } },
  ])
  return new Map(counts.map(({ _id, count }) => [_id, count]))
}
