import { numbersOf } from '../../core/numbers.ts'
import { traceOutcome } from '../../core/tracing.ts'
import { type Connection, SYNCS_KEPT } from '../../schemas/connection/connection.ts'
import { type OutboxEntry, outboxEntry, withEvents } from '../../schemas/outbox.ts'
import { type Counts, countRun, importedEvents, inBrief } from '../archive/counts.ts'
import { releaseAt, writeHeld } from '../connection/claimed.ts'
import type { ActorRuntime } from '../runtime.ts'
import { nextSync, type Outcome } from './cadence.ts'

/** Ends the run in one write: its counts, its events, when the next sync is due, and the claim goes back. Throws `ClaimLost`. */
export async function reportSync({
  connection,
  runtime,
  runId,
  outcome,
  unchanged,
  sessionVerified,
}: {
  /** As held by this actor. */
  connection: Connection
  runtime: ActorRuntime
  runId: string
  outcome: Outcome
  unchanged: number
  sessionVerified: boolean
}): Promise<void> {
  const now = runtime.clock.now()
  const counts = await countRun({ archiveId: connection.archiveId ?? '', runId, unchanged })
  const foundSomething = counts.inserted + counts.updated > 0
  const next = nextSync({ outcome, foundSomething, intervalMs: connection.sync.intervalMs, clock: runtime.clock })
  const lastSyncAt = sessionVerified ? now : connection.lastSyncAt
  const events: OutboxEntry[] = importedEvents({ connection, runId, counts, at: now })
  if (outcome.kind === 'session-ended')
    events.push(reauthNeeded({ connection, runId, reason: outcome.reason, lastSyncAt, at: now }))
  // A first sync that was cut short before it began goes first again.
  const looked = sessionVerified || outcome.kind !== 'interrupted'
  const release = releaseAt(next.due)
  const told = describe(outcome, counts)
  const ended = {
    $set: {
      ...release.$set,
      'sync.unchanged': 0,
      'sync.outcome': told,
      ...(next.intervalMs !== undefined && { 'sync.intervalMs': next.intervalMs }),
      ...(lastSyncAt && { lastSyncAt }),
      ...(outcome.kind === 'session-ended' && { status: 'needs_reauth' }),
      crashes: 0,
    },
    $unset: {
      ...release.$unset,
      ...(looked && { awaitsFirstSync: 1 }),
      'sync.runId': 1,
      ...(next.intervalMs === undefined && { 'sync.intervalMs': 1 }),
    },
    $push: { 'sync.history': { $each: [{ at: now, outcome: told }], $slice: -SYNCS_KEPT } },
  }
  await writeHeld(connection, withEvents(ended, events, now))
  traceOutcome(outcome.kind)
  numbersOf(runtime.metrics).syncs.inc({ outcome: outcome.kind })
  runtime.log.info({ connectionId: connection._id, outcome: outcome.kind, ...counts }, 'sync ended')
}

const describe = (outcome: Outcome, counts: Counts): string =>
  `${outcome.kind}${'reason' in outcome ? `: ${outcome.reason}` : ''} ${inBrief(counts)}`

const reauthNeeded = ({
  connection,
  runId,
  reason,
  lastSyncAt,
  at,
}: {
  connection: Connection
  runId: string
  reason: string
  lastSyncAt: Date | undefined
  at: Date
}): OutboxEntry =>
  outboxEntry({
    cause: runId,
    appId: connection.appId,
    event: 'reauth.needed',
    at,
    payload: {
      connectionId: connection._id,
      userRef: connection.userRef,
      provider: connection.provider,
      reason,
      lastSuccessfulPull: lastSyncAt?.toISOString() ?? null,
    },
  })
