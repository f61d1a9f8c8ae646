import { ServiceError } from '../../core/errors.ts'
import { type App, Apps } from '../../schemas/app/app.ts'
import type { Command } from '../../schemas/command/command.ts'
import { openConnectCommand } from '../../schemas/command/connect-command.ts'
import { type Connection, Connections, LIVE_STATUSES } from '../../schemas/connection/connection.ts'
import { cancelReservation, reserve } from '../../schemas/connection/reservation.ts'
import { trusted } from '../../schemas/database.ts'
import { isHandedOver } from '../../schemas/lease/lease-ends.ts'
import { emailHashOf } from '../../schemas/user/email-hash.ts'
import { presentGeneration } from '../../schemas/user/user.ts'
import { accountIdOf, holdAccount } from '../connection/account.ts'
import { foldConnection } from '../connection/fold.ts'
import { type Holding, waitForClaim } from '../connection/wait-for-claim.ts'
import { awaitOtherConnect } from './admit-connect.ts'
import type { CommandWork } from './command-work.ts'
import { createConnection } from './create-connection.ts'
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
    const reservation = await reserve({ connectionId: args.connectionId, userId: args.userId, accountId })
    // Looked at after the place was taken: a deletion that begins from here on finds the place.
    if (reservation) await assertNotDeleted(command)
    const own = reservation ? null : await Connections.findById(args.connectionId).lean<Connection>()
    const others = await Connections.find({
      accountId,
      status: trusted({ $in: LIVE_STATUSES }),
      // Taken up after a crash: whoever connected since then is no predecessor.
      _id: trusted(own ? { $in: own.replaces } : { $ne: args.connectionId }),
    }).lean<Connection[]>()
    if (others.some(({ userId }) => userId !== args.userId)) throw new ServiceError('account_held')
    const { email } = credential.account
    const holdings = await holdAll(others, { runtime, signal: AbortSignal.any([signal, account.signal]) })
    try {
      const predecessors = holdings.map(({ document }) => document).filter(({ status }) => status !== 'revoked')
      const emailHash = args.emailHash ?? (email && emailHashOf({ app, email, runtime }))
      if (reservation) {
        if (args.leaseId !== undefined && !(await isHandedOver({ leaseId: args.leaseId, commandId: command._id })))
          throw new ServiceError('flow_ended')
        const given = { reservation, command, opened, runtime, account: account.document, predecessors }
        await createConnection({ ...given, ...(emailHash && { emailHash }) })
      }
      for (const predecessor of predecessors) await foldConnection({ predecessor, runtime })
    } finally {
      for (const holding of holdings) await holding.release()
    }
  } catch (error) {
    if (error instanceof ServiceError) await cancelReservation({ connectionId: args.connectionId })
    throw error
  } finally {
    await account.release()
  }
  await finishCommand({ command, result: { connectionId: args.connectionId }, now: runtime.clock.now() })
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

/** Throws `flow_ended` where everything of the user was deleted since the flow began. */
async function assertNotDeleted({ args }: Command<'connect'>): Promise<void> {
  if ((await presentGeneration(args)) !== (args.generation ?? 0)) throw new ServiceError('flow_ended')
}
