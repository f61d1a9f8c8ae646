import { SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { deriveId } from '../../core/ids.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { type Command, type CommandResults, Commands, userTarget } from '../../schemas/command/command.ts'
import { awaitCommand, writeCommand } from '../../schemas/command/commands.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import type { Principal } from '../../schemas/principal.ts'
import { Users } from '../../schemas/user/user.ts'
import { inTime } from '../kit/deadline.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { resultOf } from './command-result.ts'

/** How long a caller is kept waiting; a deletion that takes longer goes on, and asking again joins it. */
const WAIT_MS = 25 * SECOND

export type PurgeTarget = { userRef: string } | { connectionId: string }
type PurgeResult = CommandResults['purge']

interface Purge {
  appId: string
  args: Command<'purge'>['args']
  target: string
  by: Principal
  runtime: Pick<HttpRuntime, 'clock'>
  signal?: AbortSignal
}

/**
 * Deletes one connection or everything of a user (docs/behaviour.md, POST /api/purge) and waits for the end. Parallel purges of one target share
 * one deletion and its counts; what was deleted before counts nothing. Throws `ServiceError` `user_not_found`, `connection_not_found`,
 * or `busy` where the deletion takes longer than the wait.
 */
export async function purge({
  appId,
  target,
  by,
  runtime,
  signal,
}: {
  appId: string
  target: PurgeTarget
  by: Principal
  runtime: Pick<HttpRuntime, 'clock'>
  signal?: AbortSignal
}): Promise<PurgeResult> {
  const { clock } = runtime
  const args = await inTime(findTarget({ appId, target }), { clock })
  const work: Purge = {
    appId,
    args,
    target: args.userId ? userTarget(args.userId) : (args.connectionId ?? ''),
    by,
    runtime,
    ...(signal && { signal }),
  }
  const end = clock.elapsed() + WAIT_MS
  const before = await inTime(begin(work), { clock })
  const first = await finish({ ...work, id: before.id, timeoutMs: end - clock.elapsed() })
  // The deletion that was joined may have begun before the newest of these connections was there.
  const left = before.joined ? await inTime(liveConnections(args), { clock }) : []
  if (left.length === 0) return first
  const rest = await inTime(begin(work), { clock })
  const second = await finish({ ...work, id: rest.id, timeoutMs: end - clock.elapsed() })
  return {
    connectionsRevoked: first.connectionsRevoked + second.connectionsRevoked,
    conversationsDeleted: first.conversationsDeleted + second.conversationsDeleted,
    deletedAt: second.deletedAt,
  }
}

/** What a purge of the target would delete now. Throws as `purge` does where there is no such target. */
export async function previewPurge({
  appId,
  target,
}: {
  appId: string
  target: PurgeTarget
}): Promise<Pick<PurgeResult, 'connectionsRevoked' | 'conversationsDeleted'>> {
  const args = await findTarget({ appId, target })
  const live = await Connections.find({ _id: trusted({ $in: await liveConnections(args) }) })
    .select({ archiveId: 1 })
    .lean<Pick<Connection, '_id' | 'archiveId'>[]>()
  const archiveIds = live.flatMap(({ archiveId }) => archiveId ?? [])
  const conversationsDeleted = await Conversations.countDocuments({ archiveId: trusted({ $in: archiveIds }) })
  return { connectionsRevoked: live.length, conversationsDeleted }
}

async function findTarget({ appId, target }: { appId: string; target: PurgeTarget }): Promise<Purge['args']> {
  if ('connectionId' in target) {
    const connection = await Connections.findOne({ _id: target.connectionId, appId })
      .select({ userRef: 1 })
      .lean<{ userRef: string }>()
    if (!connection) throw new ServiceError('connection_not_found')
    return { connectionId: target.connectionId, userRef: connection.userRef }
  }
  const user = await Users.findOne({ appId, userRef: target.userRef }).select({ _id: 1 }).lean<{ _id: string }>()
  if (!user) throw new ServiceError('user_not_found')
  return { userId: user._id, userRef: target.userRef }
}

/** Joins the deletion of this target that is under way, or begins one. */
async function begin({ appId, args, target, by, runtime }: Purge): Promise<{ id: string; joined: boolean }> {
  const live = await liveConnections(args)
  // Looked for after the connections: one that began in between is seen here, or has the same id below.
  const open = await Commands.findOne({ target, kind: 'purge', state: 'waiting' })
    .sort({ createdAt: -1 })
    .select({ _id: 1 })
    .lean<{ _id: string }>()
  if (open) return { id: open._id, joined: true }
  const id = await writeCommand({
    ...(live.length > 0 && { id: deriveId('purge', target, ...live) }),
    kind: 'purge',
    appId,
    target,
    by,
    args,
    now: runtime.clock.now(),
  })
  return { id, joined: false }
}

async function liveConnections({ connectionId, userId }: Purge['args']): Promise<string[]> {
  const which = connectionId ? { _id: connectionId } : { userId: userId ?? '' }
  const found = await Connections.find({ ...which, status: trusted({ $ne: 'revoked' }) })
    .select({ _id: 1 })
    .sort({ _id: 1 })
    .lean<{ _id: string }[]>()
  return found.map(({ _id }) => _id)
}

async function finish({
  id,
  runtime,
  signal,
  timeoutMs,
}: Purge & { id: string; timeoutMs: number }): Promise<PurgeResult> {
  const command = await awaitCommand<'purge'>({ id, clock: runtime.clock, timeoutMs, ...(signal && { signal }) })
  return resultOf(command)
}
