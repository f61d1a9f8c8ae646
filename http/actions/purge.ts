import { SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { Conversations } from '../../schemas/archive/conversation.ts'
import { type Command, type CommandResults, Commands, userTarget } from '../../schemas/command/command.ts'
import { awaitCommand, writeCommand } from '../../schemas/command/commands.ts'
import { type Connection, Connections, LIVE_STATUSES, OF_USER } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import type { Principal } from '../../schemas/principal.ts'
import { Users } from '../../schemas/user/user.ts'
import { inTime } from '../kit/deadline.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { resultOf } from './command-result.ts'

/** How long a caller is kept waiting; a deletion that takes longer goes on, and asking again waits for it too. */
const WAIT_MS = 25 * SECOND

/** Whoever asks again and again while one is under way waits for so many of them, the newest. */
const MOST_UNDER_WAY = 100

export type PurgeTarget = { userRef: string } | { connectionId: string }
type PurgeResult = CommandResults['purge']
type Args = Command<'purge'>['args']

/**
 * Deletes one connection or everything of a user (docs/behaviour.md, POST /api/purge) and waits for the end, also of deletions of the same
 * target that were under way: their counts are in the answer. What was deleted before counts nothing. Throws `ServiceError`
 * `user_not_found`, `connection_not_found`, or `busy` where the deletion takes longer than the wait.
 */
export async function purge({
  appId,
  target,
  by,
  runtime: { clock },
  signal,
}: {
  appId: string
  target: PurgeTarget
  by: Principal
  runtime: Pick<HttpRuntime, 'clock'>
  signal?: AbortSignal
}): Promise<PurgeResult> {
  const args = await inTime(findTarget({ appId, target }), { clock })
  const end = clock.elapsed() + WAIT_MS
  const finish = async (id: string): Promise<PurgeResult> =>
    resultOf(await awaitCommand<'purge'>({ id, clock, timeoutMs: end - clock.elapsed(), ...(signal && { signal }) }))
  const { underWay, id } = await inTime(begin({ appId, args, by, now: clock.now() }), { clock })
  const own = await finish(id)
  const all = [own, ...(await Promise.all(underWay.map(finish)))]
  return {
    connectionsRevoked: all.reduce((sum, each) => sum + each.connectionsRevoked, 0),
    conversationsDeleted: all.reduce((sum, each) => sum + each.conversationsDeleted, 0),
    deletedAt: own.deletedAt,
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
  const { connectionId, userId = '' } = args
  const status = trusted({ $in: LIVE_STATUSES })
  const found = connectionId
    ? Connections.find({ _id: connectionId, status })
    : Connections.find({ userId, status }).hint(OF_USER)
  const live = await found.select({ archiveId: 1 }).lean<Pick<Connection, '_id' | 'archiveId'>[]>()
  const archiveIds = live.flatMap(({ archiveId }) => archiveId ?? [])
  const conversationsDeleted = await Conversations.countDocuments({ archiveId: trusted({ $in: archiveIds }) })
  return { connectionsRevoked: live.length, conversationsDeleted }
}

async function findTarget({ appId, target }: { appId: string; target: PurgeTarget }): Promise<Args> {
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

/** Begins a deletion of its own: one that is under way may have looked before the newest connection was there. */
async function begin({
  appId,
  args,
  by,
  now,
}: {
  appId: string
  args: Args
  by: Principal
  now: Date
}): Promise<{ id: string; underWay: string[] }> {
  const target = args.userId ? userTarget(args.userId) : (args.connectionId ?? '')
  const open = await Commands.find({ target, kind: 'purge', state: 'waiting' })
    .sort({ createdAt: -1 })
    .limit(MOST_UNDER_WAY)
    .select({ _id: 1 })
    .lean<{ _id: string }[]>()
  const id = await writeCommand({ kind: 'purge', appId, target, by, args, now })
  return { id, underWay: open.map(({ _id }) => _id) }
}
