import { type Conversation, Conversations } from '../../schemas/archive/conversation.ts'
import type { Connection } from '../../schemas/connection/connection.ts'
import { type OutboxEntry, outboxEntry } from '../../schemas/outbox.ts'

type Change = Conversation['change']

/** What a sync or an ingestion did; `total` is their sum: what it looked at (docs/behaviour.md, Events). */
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
  const groups = await Conversations.aggregate<{ _id: Change; count: number }>([
    { $match: { archiveId, runId } },
    { $group: { _id: '$change', count: { $sum: 1 } } },
  ])
  return countsOf(
    groups.map(({ _id, count }) => ({ change: _id, count })),
    unchanged,
  )
}

function countsOf(changes: { change: Change; count: number }[], unchanged: number): Counts {
  const of = (wanted: Change) => changes.find(({ change }) => change === wanted)?.count ?? 0
  const inserted = of('inserted')
  const updated = of('updated')
  const same = of('unchanged') + unchanged
  return { inserted, updated, unchanged: same, total: inserted + updated + same }
}

/** What a run found, for operators. */
export const inBrief = ({ inserted, updated }: Counts): string => `(${inserted} inserted, ${updated} updated)`

/** The `data.imported` of a run; none when it found nothing new (docs/behaviour.md, Events). */
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

/** The report of a run that something else cut short (a fold, an ingestion): what it stored, once. */
export async function cutShortEvents({ connection, at }: { connection: Connection; at: Date }): Promise<OutboxEntry[]> {
  const { runId, unchanged } = connection.sync
  if (!runId || !connection.archiveId) return []
  const counts = await countRun({ archiveId: connection.archiveId, runId, unchanged })
  return importedEvents({ connection, runId, counts, at })
}

/** The same beside how many conversations are stored in all, from one look at the archive: a run may be storing more meanwhile. */
export async function cutShortAndStored({
  connection,
  at,
}: {
  connection: Connection
  at: Date
}): Promise<{ events: OutboxEntry[]; stored: number }> {
  const { archiveId } = connection
  if (!archiveId) return { events: [], stored: 0 }
  const { runId, unchanged } = connection.sync
  if (!runId) return { events: [], stored: await Conversations.countDocuments({ archiveId }) }
  const groups = await Conversations.aggregate<{ _id: { mine: boolean; change: Change }; count: number }>([
    { $match: { archiveId } },
    { $group: { _id: { mine: { $eq: ['$runId', runId] }, change: '$change' }, count: { $sum: 1 } } },
  ])
  const mine = groups.filter(({ _id }) => _id.mine).map(({ _id, count }) => ({ change: _id.change, count }))
  return {
    events: importedEvents({ connection, runId, counts: countsOf(mine, unchanged), at }),
    stored: groups.reduce((sum, { count }) => sum + count, 0),
  }
}
