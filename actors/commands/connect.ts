import { ServiceError } from '../../core/errors.ts'
import { type App, Apps } from '../../schemas/app/app.ts'
import type { Command } from '../../schemas/command/command.ts'
import { type OpenedConnect, openConnectCommand } from '../../schemas/command/connect-command.ts'
import type { Account } from '../../schemas/connection/account.ts'
import { BrowserProfiles } from '../../schemas/connection/browser-profile.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { trusted } from '../../schemas/database.ts'
import { isHandedOver } from '../../schemas/lease/lease-ends.ts'
import { type OutboxEntry, outboxEntry } from '../../schemas/outbox.ts'
import { emailHashOf } from '../../schemas/user/email-hash.ts'
import { accountIdOf, holdAccount } from '../connection/account.ts'
import { foldConnection } from '../connection/fold.ts'
import { inheritArchiveKey } from '../connection/keys.ts'
import { type Holding, waitForClaim } from '../connection/wait-for-claim.ts'
import type { ActorRuntime } from '../runtime.ts'
import { admitConnect, awaitOtherConnect } from './admit-connect.ts'
import type { CommandWork } from './command-work.ts'
import { finishCommand } from './finish.ts'

/**
 * Creates a connection from a usable session (docs/behaviour.md, Connect flow). The account's claim
 * puts rivals in order: of two users exactly one wins, of two reconnects the later folds the earlier. Run again after a crash at any
 * point, or beside an actor that stalled, it ends the same way.
 */
export async function connect({ command, runtime, signal }: CommandWork<'connect'>): Promise<void> {
  const { args } = command
  const app = await Apps.findById(command.appId).lean<App>()
  if (!app) throw new ServiceError('app_not_found')
  const opened = openConnectCommand(command, runtime)
  const { credential } = opened
  if (!credential.account) throw new Error('the session names no account')
  const accountId = accountIdOf({ app, provider: args.provider, providerAccountId: credential.account.id, runtime })
  const account = await holdAccount({ id: accountId, appId: app._id, provider: args.provider, runtime, signal })
  try {
    await awaitOtherConnect(account.document, command)
    const own = await Connections.findById(args.connectionId).lean<Connection>()
    const others = await Connections.find({
      accountId,
      status: trusted({ $ne: 'revoked' }),
      // Taken up after a crash: whoever connected since then is no predecessor.
      _id: trusted(own ? { $in: own.replaces } : { $ne: args.connectionId }),
    }).lean<Connection[]>()
    if (others.some(({ userId }) => userId !== args.userId)) throw new ServiceError('account_held')
    const { email } = credential.account
    const holdings = await holdAll(others, { runtime, signal: AbortSignal.any([signal, account.signal]) })
    try {
      const predecessors = holdings.map(({ document }) => document).filter(({ status }) => status !== 'revoked')
      const emailHash = args.emailHash ?? (email && emailHashOf({ app, email, runtime }))
      if (!own) {
        if (args.leaseId !== undefined && !(await isHandedOver({ leaseId: args.leaseId, commandId: command._id })))
          throw new ServiceError('connection_revoked')
        await create({
          command,
          opened,
          runtime,
          account: account.document,
          predecessors,
          ...(emailHash && { emailHash }),
        })
      }
      for (const predecessor of predecessors) await foldConnection({ predecessor, runtime })
    } finally {
      for (const holding of holdings) await holding.release()
    }
  } finally {
    await account.release()
  }
  await finishCommand({ command, result: { connectionId: args.connectionId }, now: runtime.clock.now() })
  runtime.outboxHint()
}

async function holdAll(
  connections: Connection[],
  { runtime, signal }: Pick<CommandWork<'connect'>, 'runtime' | 'signal'>,
): Promise<Holding<Connection>[]> {
  const held: Holding<Connection>[] = []
  try {
    for (const { _id } of connections) {
      const holding = await waitForClaim({ model: Connections, id: _id, runtime, signal })
      if (holding) held.push(holding)
    }
  } catch (error) {
    for (const holding of held) await holding.release()
    throw error
  }
  return held
}

interface Creation extends Omit<CommandWork<'connect'>, 'signal'> {
  opened: OpenedConnect
  /** As held by this actor. */
  account: Account
  /** As held by this actor. */
  predecessors: Connection[]
  emailHash?: string
}

async function create({
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
  if (sealed.profile) await storeProfile(args.connectionId, sealed.profile, runtime)
  const now = runtime.clock.now()
  await Connections.create({
    _id: args.connectionId,
    appId: command.appId,
    userId: args.userId,
    userRef: args.userRef,
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
    fence: 0,
    outbox: [created(command, predecessors, now)],
    outboxAt: now,
  })
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

async function storeProfile(connectionId: string, sealed: Buffer, { clock }: ActorRuntime): Promise<void> {
  await BrowserProfiles.updateOne({ _id: connectionId }, { $set: { sealed, storedAt: clock.now() } }, { upsert: true })
}
