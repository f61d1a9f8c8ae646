import type { Command } from '../../schemas/command/command.ts'
import type { OpenedConnect } from '../../schemas/command/connect-command.ts'
import type { Account } from '../../schemas/connection/account.ts'
import { storeBrowserProfile } from '../../schemas/connection/browser-profile.ts'
import type { Connection } from '../../schemas/connection/connection.ts'
import { fillReservation, type Reservation } from '../../schemas/connection/reservation.ts'
import { ClaimLost } from '../../schemas/held-claims.ts'
import { type OutboxEntry, outboxEntry } from '../../schemas/outbox.ts'
import { inheritArchiveKey } from '../connection/keys.ts'
import { admitConnect } from './admit-connect.ts'
import type { CommandWork } from './command-work.ts'

interface Creation extends Omit<CommandWork<'connect'>, 'signal'> {
  reservation: Reservation
  opened: OpenedConnect
  /** As held by this actor. */
  account: Account
  /** As held by this actor. */
  predecessors: Connection[]
  emailHash?: string
}

/**
 * Makes the connection of its reserved place, with the intent to tell of it, in one write. Throws `ClaimLost` where the place was taken
 * away meanwhile: by a deletion, or by another actor that carries out the same command.
 */
export async function createConnection({
  reservation,
  command,
  opened: { key, sealed },
  runtime,
  account,
  predecessors,
  emailHash,
}: Creation): Promise<void> {
  const { args } = command
  const archiveId = await admitConnect({
    account,
    command,
    inherited: predecessors.find((each) => each.archiveId)?.archiveId,
  })
  const predecessor = predecessors.find(({ archiveKey }) => archiveKey)
  const now = runtime.clock.now()
  const filled = await fillReservation(reservation, {
    appId: command.appId,
    userId: args.userId,
    userRef: args.userRef,
    generation: args.generation ?? 0,
    provider: args.provider,
    status: 'active',
    capturedAt: args.capturedAt,
    accountId: account._id,
    archiveId,
    key: args.key,
    archiveKey: inheritArchiveKey({ key, predecessor, keyring: runtime.keyring }),
    credential: sealed.credential,
    ...(emailHash && { emailHash }),
    ...(args.device && { device: args.device }),
    replaces: predecessors.map(({ _id }) => _id),
    sync: { unchanged: 0, ...resumed(predecessors) },
    crashes: 0,
    awaitsFirstSync: true,
    claimableAt: now,
    outbox: [created(command, predecessors, now)],
    outboxAt: now,
  })
  if (!filled) throw new ClaimLost('the place of the connection was taken away')
  if (sealed.profile) await storeBrowserProfile({ connectionId: args.connectionId, sealed: sealed.profile, now })
}

/** The cadence goes on where the predecessor's was, once its history is complete. */
const resumed = (predecessors: Connection[]): { intervalMs?: number } => {
  const intervalMs = predecessors.find(({ sync }) => sync.intervalMs !== undefined)?.sync.intervalMs
  return intervalMs === undefined ? {} : { intervalMs }
}

const created = ({ _id, args, appId }: Command<'connect'>, predecessors: Connection[], at: Date): OutboxEntry =>
  outboxEntry({
    cause: _id,
    appId,
    event: 'connection.created',
    at,
    payload: {
      connectionId: args.connectionId,
      userRef: args.userRef,
      userId: args.userId,
      connectorId: args.provider,
      provider: args.provider,
      replaces: predecessors.map((connection) => connection._id),
    },
  })
