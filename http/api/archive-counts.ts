import { type Clock, DAY } from '../../core/clock.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import type { Connection } from '../../schemas/connection/connection.ts'
import { RECENT_WINDOW_DAYS } from '../../wire/connections.ts'
import { archiveVersion, createVersionCache } from './archive-version.ts'

type CountedConnection = Pick<Connection, '_id' | 'archiveId' | 'fence' | 'claimedBy'>

interface ArchiveCounts {
  all: number
  /** Conversations whose first message is within the window (docs/behaviour.md, Connection). */
  recent: number
}

interface CachedCounts extends ArchiveCounts {
  /** When the next conversation leaves the window. */
  until: number
}

const WINDOW_MS = RECENT_WINDOW_DAYS * DAY
const MOST_CACHED = 10_000
const NONE: ArchiveCounts = { all: 0, recent: 0 }

/**
 * Counts the conversations of connections as of now, by connection id: two indexed aggregates in all for those that are not known.
 * What was counted holds while nobody writes to the archive and no conversation leaves the window.
 */
export function createArchiveCounts({ clock }: { clock: Clock }) {
  const cache = createVersionCache<CachedCounts>({ clock, most: MOST_CACHED })
  return async (connections: CountedConnection[], now: Date): Promise<(connectionId: string) => ArchiveCounts> => {
    const known = new Map<string, ArchiveCounts>()
    const unknown: CountedConnection[] = []
    for (const connection of connections) {
      if (connection.archiveId === undefined) continue
      const counts = cache.get(archiveVersion(connection))
      if (counts && now.getTime() < counts.until) known.set(connection._id, counts)
      else unknown.push(connection)
    }
    const since = new Date(now.getTime() - WINDOW_MS)
    const archiveIds = unknown.flatMap(({ archiveId }) => archiveId ?? [])
    const [all, recent] = await Promise.all([
      countByArchive({ archiveIds }),
      countByArchive({ archiveIds, firstMessageAt: { $gte: since } }),
    ])
    for (const connection of unknown) {
      const archiveId = connection.archiveId ?? ''
      const within = recent.get(archiveId)
      const counts = { all: all.get(archiveId)?.count ?? 0, recent: within?.count ?? 0 }
      known.set(connection._id, counts)
      const until = within ? within.oldest.getTime() + WINDOW_MS : Number.POSITIVE_INFINITY
      cache.set(archiveVersion(connection), { ...counts, until })
    }
    return (connectionId) => known.get(connectionId) ?? NONE
  }
}

interface Counted {
  _id: string
  count: number
  oldest: Date
}

async function countByArchive({
  archiveIds,
  ...more
}: {
  archiveIds: string[]
  firstMessageAt?: { $gte: Date }
}): Promise<Map<string, Counted>> {
  if (archiveIds.length === 0) return new Map()
  const counts = await Conversations.aggregate<Counted>([
    { $match: { archiveId: { $in: archiveIds }, ...more } },
    { $group: { _id: '$archiveId', count: { $sum: 1 }, oldest: { $min: '$firstMessageAt' } } },
  ])
  return new Map(counts.map((each) => [each._id, each]))
}
