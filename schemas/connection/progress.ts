import { Conversations } from '../archive/conversation.ts'
import { trusted } from '../database.ts'
import { Accounts, type Backfill } from './account.ts'
import type { Connection } from './connection.ts'

/** How far the history of a connection's account was read, for operators and the manage page. */
export interface Progress {
  /** Conversations stored. */
  stored: number
  /** What the provider says it has; null before it was asked. */
  total: number | null
  /** The history is complete; from here on only what is new or changed is read. */
  done: boolean
}

/** Of a connection that is revoked, or whose account was never read. */
export const NO_PROGRESS: Progress = { stored: 0, total: null, done: false }

/** The progress of each of these connections, by id, in two queries whatever their number. A revoked connection has none. */
export async function connectionProgress(
  connections: Pick<Connection, '_id' | 'accountId' | 'archiveId'>[],
): Promise<Map<string, Progress>> {
  const archiveIds = connections.flatMap(({ archiveId }) => archiveId ?? [])
  if (archiveIds.length === 0) return new Map(connections.map(({ _id }) => [_id, NO_PROGRESS]))
  const [counts, accounts] = await Promise.all([
    Conversations.aggregate<{ _id: string; stored: number }>([
      { $match: { archiveId: { $in: archiveIds } } },
      { $group: { _id: '$archiveId', stored: { $sum: 1 } } },
    ]),
    Accounts.find({
      archiveId: trusted({ $in: archiveIds }),
      _id: trusted({ $in: connections.map((c) => c.accountId) }),
    })
      .select({ archiveId: 1, backfill: 1 })
      .lean<{ archiveId: string; backfill: Backfill }[]>(),
  ])
  const stored = new Map(counts.map((count) => [count._id, count.stored]))
  const backfills = new Map(accounts.map(({ archiveId, backfill }) => [archiveId, backfill]))
  const of = (archiveId: string | undefined): Progress => {
    const backfill = archiveId ? backfills.get(archiveId) : undefined
    if (!archiveId || !backfill) return NO_PROGRESS
    return { stored: stored.get(archiveId) ?? 0, total: backfill.total ?? null, done: backfill.done }
  }
  return new Map(connections.map(({ _id, archiveId }) => [_id, of(archiveId)]))
}
