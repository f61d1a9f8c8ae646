import { MINUTE } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { deriveId } from '../../core/ids.ts'
import { deleteExportUploadsOf } from '../../schemas/archive/export-upload.ts'
import type { Command } from '../../schemas/command/command.ts'
import { writeCommand } from '../../schemas/command/commands.ts'
import { Accounts } from '../../schemas/connection/account.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { purgeLeases } from '../../schemas/lease/lease-ends.ts'
import { type OutboxEntry, outboxEntry, withEvents } from '../../schemas/outbox.ts'
import { spendCapturesOf } from '../../schemas/user/capture.ts'
import { cutShortAndStored } from '../archive/counts.ts'
import { deleteArchive, deleteBrowserProfile } from '../archive/purge-data.ts'
import { holdAccount } from '../connection/account.ts'
import { REVOKED } from '../connection/fold.ts'
import type { ActorRuntime } from '../runtime.ts'
import type { CommandWork } from './command-work.ts'
import { finishCommand } from './finish.ts'

/** A writer that lost its claim has ended by then (machine time): whatever it left is swept. */
const SWEEP_AFTER_MS = MINUTE

/**
 * Deletes one connection or everything of a user (docs/behaviour.md, Deletion). Each connection is detached first, so the API shows
 * nothing at once, then its data goes. Counts are kept on the connection, so a crash at any point changes neither answer nor event.
 */
export async function purge(work: CommandWork<'purge'>): Promise<void> {
  const { command, runtime } = work
  const { connectionId, userId } = command.args
  if (userId) await endFlows(userId, runtime)
  const targets = await Connections.find(connectionId ? { _id: connectionId } : { userId: userId ?? '' })
    .sort({ capturedAt: 1 })
    .lean<Connection[]>()
  if (connectionId && targets.length === 0) throw new ServiceError('connection_not_found')
  const purged: Connection[] = []
  for (const target of targets) {
    const connection = await purgeConnection(target, work)
    if (connection) purged.push(connection)
  }
  const now = runtime.clock.now()
  const conversationsDeleted = purged.reduce(
    (sum, connection) => sum + (connection.purge?.conversationsDeleted ?? 0),
    0,
  )
  await finishCommand({
    command,
    result: { connectionsRevoked: purged.length, conversationsDeleted, deletedAt: now.toISOString() },
    events: purged.length > 0 ? [deleted({ command, purged, conversationsDeleted, at: now })] : [],
    now,
  })
  runtime.outboxHint()
}

/** The connection as this command purged it; null when it was revoked before. */
async function purgeConnection(
  { _id, accountId, appId, provider }: Connection,
  { command, runtime, signal }: CommandWork<'purge'>,
) {
  const account = await holdAccount({ id: accountId, appId, provider, runtime, signal })
  try {
    const connection = await detach({ id: _id, commandId: command._id, runtime })
    if (!connection?.purge) return null
    const { archiveId } = connection.purge
    await deleteBrowserProfile({ connectionId: _id })
    await deleteExportUploadsOf({ connectionId: _id })
    if (archiveId) {
      await Accounts.updateOne(
        { _id: accountId, archiveId },
        { $set: { backfill: { done: false } }, $unset: { archiveId: 1 } },
      )
      await deleteArchive({ archiveId })
      await sweepLater({ archiveId, appId, runtime })
    }
    return connection
  } finally {
    await account.release()
  }
}

/** Takes everything from the connection in one write, whoever holds it: from here on nobody can read or write its data. */
async function detach({
  id,
  commandId,
  runtime,
}: {
  id: string
  commandId: string
  runtime: ActorRuntime
}): Promise<Connection | null> {
  for (;;) {
    const connection = await Connections.findById(id).lean<Connection>()
    if (!connection) return null
    if (connection.status === 'revoked') return connection.purge?.commandId === commandId ? connection : null
    const now = runtime.clock.now()
    const { archiveId } = connection
    // Both from one look: what a sync stores meanwhile is deleted with the rest and told by neither.
    const { events, stored: conversationsDeleted } = await cutShortAndStored({ connection, at: now })
    const revoked = {
      $set: {
        status: 'revoked',
        revokedAt: now,
        purge: { commandId, conversationsDeleted, ...(archiveId && { archiveId }) },
      },
      $unset: { ...REVOKED, claimableAt: 1, claimedBy: 1, yieldRequestedAt: 1 },
      $inc: { fence: 1 },
    }
    const detached = await Connections.findOneAndUpdate(
      { _id: id, fence: connection.fence, 'sync.runId': connection.sync.runId ?? trusted({ $exists: false }) },
      withEvents(revoked, events, now),
      { returnDocument: 'after' },
    ).lean<Connection>()
    if (detached) return detached
  }
}

async function sweepLater({
  archiveId,
  appId,
  runtime,
}: {
  archiveId: string
  appId: string
  runtime: ActorRuntime
}): Promise<void> {
  const now = runtime.clock.now()
  await writeCommand({
    id: deriveId('sweep', archiveId),
    kind: 'sweep',
    appId,
    target: archiveId,
    by: { kind: 'service', id: 'purge' },
    args: { archiveId },
    now,
    claimableAt: new Date(now.getTime() + SWEEP_AFTER_MS),
  })
}

/** Deletes what a writer left in a purged archive after it was deleted. */
export async function sweep({ command, runtime }: CommandWork<'sweep'>): Promise<void> {
  const conversationsDeleted = await deleteArchive({ archiveId: command.args.archiveId })
  await finishCommand({ command, result: { conversationsDeleted }, now: runtime.clock.now() })
}

/** A user whose data is deleted has no connect flow under way either: its browser closes. */
async function endFlows(userId: string, { clock }: ActorRuntime): Promise<void> {
  const now = clock.now()
  await purgeLeases({ userId, now })
  await spendCapturesOf({ userId, now })
}

function deleted({
  command,
  purged,
  conversationsDeleted,
  at,
}: {
  command: Command<'purge'>
  purged: Connection[]
  conversationsDeleted: number
  at: Date
}): OutboxEntry {
  const { _id: cause, appId, args } = command
  const common = { userRef: args.userRef, conversationsDeleted, deletedAt: at.toISOString() }
  const [first] = purged
  if (args.connectionId && first) {
    const payload = { connectionId: first._id, provider: first.provider, ...common }
    return outboxEntry({ cause, appId, event: 'connection.deleted', payload, at })
  }
  const providers = [...new Set(purged.map(({ provider }) => provider))]
  const payload = { providers, connectionIds: purged.map(({ _id }) => _id), ...common }
  return outboxEntry({ cause, appId, event: 'data.deleted', payload, at })
}
