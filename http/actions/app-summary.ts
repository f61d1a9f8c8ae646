import { type Clock, MINUTE } from '../../core/clock.ts'
import type { App } from '../../schemas/app/app.ts'
import { type DayOfCounts, dailyCountsOf } from '../../schemas/app/daily-count.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { type Connection, type ConnectionStatus, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { Deliveries } from '../../schemas/delivery/delivery.ts'
import { Users } from '../../schemas/user/user.ts'

/** What an app's overview shows. */
export interface AppSummary {
  steps: { endpoint: boolean; key: boolean; link: boolean; connection: boolean; delivery: boolean }
  connections: Record<ConnectionStatus, number>
  /** Null: too many archives to count them for a page. */
  conversations: number | null
  /** Oldest first. */
  days: DayOfCounts[]
}

const DAYS = 30
/** Counting walks the conversations of every archive: with more of them than this it is left out. */
const MOST_ARCHIVES = 2_000
/** A count of conversations is shown for so long before it is counted anew. */
const FRESH_MS = MINUTE
const MOST_KEPT = 1_000

/** Looks an app up for its overview; the costly count of conversations is kept for a minute. */
export function createSummaries({ clock }: { clock: Clock }): (app: App) => Promise<AppSummary> {
  const kept = new Map<string, { count: number | null; until: number }>()
  const conversationsOf = async (appId: string): Promise<number | null> => {
    const known = kept.get(appId)
    if (known && clock.elapsed() < known.until) return known.count
    const count = await countConversations(appId)
    if (kept.size >= MOST_KEPT) kept.clear()
    kept.set(appId, { count, until: clock.elapsed() + FRESH_MS })
    return count
  }
  return async (app) => {
    const appId = app._id
    const [byStatus, conversations, days, user, delivered] = await Promise.all([
      Connections.aggregate<{ _id: ConnectionStatus; count: number }>([
        { $match: { appId } },
        { $group: { _id: '$status', count: { $sum: 1 } } },
      ]),
      conversationsOf(appId),
      dailyCountsOf({ appId, days: DAYS, now: clock.now() }),
      Users.exists({ appId }),
      Deliveries.exists({ appId, state: 'delivered' }),
    ])
    const count = (status: ConnectionStatus): number => byStatus.find(({ _id }) => _id === status)?.count ?? 0
    return {
      steps: {
        endpoint: app.webhookUrl !== undefined,
        key: app.apiKeys.some(({ revokedAt }) => !revokedAt),
        link: user !== null,
        connection: byStatus.length > 0,
        delivery: delivered !== null,
      },
      connections: { active: count('active'), needs_reauth: count('needs_reauth'), revoked: count('revoked') },
      conversations,
      days,
    }
  }
}

async function countConversations(appId: string): Promise<number | null> {
  const held = await Connections.find({ appId, status: trusted({ $ne: 'revoked' }) })
    .select({ archiveId: 1 })
    .limit(MOST_ARCHIVES + 1)
    .lean<Pick<Connection, 'archiveId'>[]>()
  if (held.length > MOST_ARCHIVES) return null
  const archiveIds = held.flatMap(({ archiveId }) => archiveId ?? [])
  return archiveIds.length === 0 ? 0 : Conversations.countDocuments({ archiveId: trusted({ $in: archiveIds }) })
}
