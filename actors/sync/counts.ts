import type { Connection } from '../../schemas/connection.ts'
import { Conversations } from '../../schemas/conversation.ts'
import { type OutboxEntry, outboxEntry } from '../../schemas/outbox.ts'

/** What a sync or an ingestion did; `total` is their sum: what it looked at (CONTRACTS.md). */
export interface Counts {
  inserted: number
  updated: number
  unchanged: number
  total: number
}

/** Counts a run from what it stored, so that a crash between storing and reporting loses nothing. */
export async function countRun({
  archiveId,
  runId,
  unchanged,
}: {
  archiveId: string
  runId: string
  unchanged: number
}): Promise<Counts> {
  const groups = await Conversations.aggregate<{ _id: 'inserted' | 'updated' | 'unchanged'; count: number }>([
    { $match: { archiveId, runId } },
    { $group: { _id: '$change', count: { $sum: 1 } } },
  ])
  const of = (change: 'inserted' | 'updated' | 'unchanged') => groups.find(({ _id }) => _id === change)?.count ?? 0
  const inserted = of('inserted')
  const updated = of('updated')
  const same = of('unchanged') + unchanged
  return { inserted, updated, unchanged: same, total: inserted + updated + same }
}

/** The `data.imported` of a run; none when it found nothing new (SPEC.md). */
export function importedEvents({
  connection,
  runId,
  counts,
  at,
}: {
  connection: Pick<Connection, '_id' | 'appId' | 'userRef'>
  runId: string
  counts: Counts
  at: Date
}): OutboxEntry[] {
  if (counts.inserted + counts.updated === 0) return []
  const payload = { connectionId: connection._id, userRef: connection.userRef, ...counts, importedAt: at.toISOString() }
  return [outboxEntry({ cause: runId, appId: connection.appId, event: 'data.imported', payload, at })]
}

/** The report of a run that something else cut short (a fold, a purge): what it stored, once. */
export async function cutShortEvents({ connection, at }: { connection: Connection; at: Date }): Promise<OutboxEntry[]> {
  const { runId, unchanged } = connection.sync
  if (!runId || !connection.archiveId) return []
  const counts = await countRun({ archiveId: connection.archiveId, runId, unchanged })
  return importedEvents({ connection, runId, counts, at })
}
