import { ServiceError } from '../../../core/errors.ts'
import type { Command } from '../../../schemas/command/command.ts'
import { type Connection, Connections, LIVE_STATUSES, OF_USER } from '../../../schemas/connection/connection.ts'
import { cancelReservationsOf } from '../../../schemas/connection/reservation.ts'
import { trusted } from '../../../schemas/database.ts'
import { deleteEndedLeasesOf, purgeLeases } from '../../../schemas/lease/lease-ends.ts'
import { type OutboxEntry, outboxEntry } from '../../../schemas/outbox.ts'
import { deleteCapturesOf } from '../../../schemas/user/capture.ts'
import { raiseGeneration } from '../../../schemas/user/user.ts'
import type { CommandWork } from '../command-work.ts'
import { finishCommand } from '../finish.ts'
import { detach } from './detach.ts'
import { erase } from './erase.ts'
import { settle } from './settle.ts'
import { sweepLater } from './sweep.ts'

type Purge = CommandWork<'purge'>

/**
 * Deletes one connection or everything of a user (docs/behaviour.md, Deletion). Everything is detached first, without waiting for anybody: the
 * API shows nothing from then on, and nobody who is at work can bring any of it back (docs/architecture.md, idea 11). Then it is counted,
 * and then it goes, in batches. What is done is kept on the connections, so that a deletion that is taken up answers and tells the same.
 */
export async function purge(work: Purge): Promise<void> {
  const { command, runtime, signal } = work
  const { connectionId, userId } = command.args
  if (userId) await detachAllOf(userId, work)
  else await detachOne(connectionId ?? '', work)
  for (const connection of await unfinished(command)) await settle({ connection, now: runtime.clock.now() })
  for (const connection of await unfinished(command)) await erase({ connection, now: runtime.clock.now(), signal })
  const purged = await Connections.find({ ...targetOf(command), 'purge.commandId': command._id })
    .sort({ capturedAt: 1 })
    .lean<Connection[]>()
  const now = runtime.clock.now()
  // Those that this deletion has ended go with the first sweep: their pages have been told by then.
  if (userId) await deleteEndedLeasesOf({ userId, before: command.createdAt })
  if (userId || purged.length > 0) await sweepAgain(command, purged, now)
  const conversationsDeleted = purged.reduce((sum, each) => sum + (each.purge?.conversationsDeleted ?? 0), 0)
  await finishCommand({
    command,
    result: { connectionsRevoked: purged.length, conversationsDeleted, deletedAt: now.toISOString() },
    events: purged.length > 0 ? [deleted({ command, purged, conversationsDeleted, at: now })] : [],
    now,
  })
}

const targetOf = ({ args: { connectionId, userId } }: Command<'purge'>) =>
  connectionId ? { _id: connectionId } : { userId: userId ?? '' }

async function detachOne(connectionId: string, { command, runtime }: Purge): Promise<void> {
  const connection = await Connections.findById(connectionId).lean<Connection>()
  if (!connection?.appId) throw new ServiceError('connection_not_found')
  await detach({ connection, commandId: command._id, now: runtime.clock.now() })
}

/** Every flow that has begun ends here; connections of flows that begin later are none of this deletion's. */
async function detachAllOf(userId: string, { command, runtime: { clock } }: Purge): Promise<void> {
  const generation = await raiseGeneration({ userId, by: command._id })
  await purgeLeases({ userId, now: clock.now() })
  await deleteCapturesOf({ userId, now: clock.now() })
  await cancelReservationsOf({ userId })
  const live = await Connections.find({ userId, status: trusted({ $in: LIVE_STATUSES }) })
    .hint(OF_USER)
    .lean<Connection[]>()
  for (const connection of live) {
    if ((connection.generation ?? 0) < generation)
      await detach({ connection, commandId: command._id, now: clock.now() })
  }
}

/** What was detached and is not deleted yet, by this deletion or another one: each waits until all of it is gone. */
const unfinished = (command: Command<'purge'>): Promise<Connection[]> =>
  Connections.find({
    ...targetOf(command),
    purge: trusted({ $exists: true }),
    'purge.finishedAt': trusted({ $exists: false }),
  })
    .sort({ capturedAt: 1 })
    .lean<Connection[]>()
    .exec()

async function sweepAgain(command: Command<'purge'>, purged: Connection[], before: Date): Promise<void> {
  const { userId } = command.args
  const args = {
    archiveIds: purged.flatMap(({ purge }) => purge?.archiveId ?? []),
    connectionIds: purged.map(({ _id }) => _id),
    ...(userId && { userId }),
    before,
  }
  await sweepLater({ command, args })
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
