import { type Clock, DAY } from '../../core/clock.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import type { Connection } from '../../schemas/connection/connection.ts'
import { RECENT_WINDOW_DAYS } from '../../wire/connections.ts'
import { archiveVersion, CACHED_MS, createVersionCache, type Versioned } from './archive-version.ts'

type CountedConnection = Versioned & Pick<Connection, 'archiveId'>

interface ArchiveCounts {
  all: number
  /** Conversations whose first message is within the window (docs/behaviour.md, Connection). */
  recent: number
}

interface CachedCounts extends ArchiveCounts {
  /** No conversation leaves the window before this moment (Unix ms). */
  until: number
}

const WINDOW_MS = RECENT_WINDOW_DAYS * DAY
const MOST_CACHED = 10_000
const NONE: ArchiveCounts = { all: 0, recent: 0 }

/**
 * Counts the conversations of connections as of now, by connection id: one indexed aggregate for all those that are not known.
 * What was counted holds while nobody writes to the archive and no conversation leaves the window, which is looked for as far ahead as
 * counts are kept: the moment of the next one to leave would cost a third more.
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
    const counted = await countByArchive({ archiveIds: unknown.flatMap(({ archiveId }) => archiveId ?? []), since })
    for (const connection of unknown) {
      const { all = 0, recent = 0, staying = 0 } = counted.get(connection.archiveId ?? '') ?? {}
      known.set(connection._id, { all, recent })
      if (staying === recent) cache.set(archiveVersion(connection), { all, recent, until: now.getTime() + CACHED_MS })
    }
    return (connectionId) => known.get(connectionId) ?? NONE
  }
}

interface Counted extends ArchiveCounts {
  _id: string
  /** Those of the recent ones that are still so when counts of now are kept no longer. */
  staying: number
}

async function countByArchive({
  archiveIds,
  since,
}: {
  archiveIds: string[]
  since: Date
}): Promise<Map<string, Counted>> {
  if (archiveIds.length === 0) return new Map()
  const countFrom = (from: Date) => ({ $sum: { $cond: [{ $gte: ['$firstMessageAt', from] }, 1, 0] } })
  const counts = await Conversations.aggregate<Counted>([
    { $match: { archiveId: { $in: archiveIds } } },
    {
      $group: {
        _id: '$archiveId',
        all: { $sum: 1 },
        recent: countFrom(since),
        staying: countFrom(new Date(since.getTime() + CACHED_MS)),
      },
    },
  ])
  return new Map(counts.map((each) => [each._id, each]))
}
