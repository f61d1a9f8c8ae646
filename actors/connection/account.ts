import { createHmac } from 'node:crypto'
import { ServiceError } from '../../core/errors.ts'
import { deriveId } from '../../core/ids.ts'
import type { App } from '../../schemas/app/app.ts'
import { appKey } from '../../schemas/app/apps.ts'
import { heldBy } from '../../schemas/claims.ts'
import { type Command, Commands } from '../../schemas/command/command.ts'
import { type Account, Accounts } from '../../schemas/connection/account.ts'
import { isDuplicate } from '../../schemas/database.ts'
import { ClaimLost } from '../../schemas/held-claims.ts'
import { NotYet } from '../commands/not-yet.ts'
import type { ActorRuntime } from '../runtime.ts'
import { type Holding, waitForClaim } from './wait-for-claim.ts'

const ACCOUNT_ID_LENGTH = 32

/** Stable for one provider account within one app, and meaningless outside it (docs/behaviour.md, Connection). */
export function accountIdOf({
  app,
  provider,
  providerAccountId,
  runtime,
}: {
  app: App
  provider: string
  providerAccountId: string
  runtime: Pick<ActorRuntime, 'keyring'>
}): string {
  const key = appKey(app, { keyring: runtime.keyring, purpose: 'account-id' })
  return createHmac('sha256', key).update(`${provider}|${providerAccountId}`).digest('hex').slice(0, ACCOUNT_ID_LENGTH)
}

/** Takes the account's claim, which puts connects, folds and purges of one account in order; makes the account where it is new. */
export async function holdAccount({
  id,
  appId,
  provider,
  runtime,
  signal,
}: {
  id: string
  appId: string
  provider: string
  runtime: ActorRuntime
  signal: AbortSignal
}): Promise<Holding<Account>> {
  await Accounts.updateOne(
    { _id: id },
    { $setOnInsert: { appId, provider, backfill: { done: false }, fence: 0 } },
    { upsert: true },
  ).catch((error: unknown) => (isDuplicate(error) ? undefined : Promise.reject(error)))
  const holding = await waitForClaim({ model: Accounts, id, runtime, signal })
  if (!holding) throw new Error('the account is gone')
  return holding
}

/**
 * Looks whether another connect was let in and has not ended, because its actor stalled or died: its connection cannot be seen yet.
 * Throws `ServiceError` where it is another user's, `NotYet` where it is of the same user: it goes first.
 */
export async function awaitOtherConnect({ connecting }: Account, command: Command<'connect'>): Promise<void> {
  if (!connecting || connecting.commandId === command._id) return
  if (!(await Commands.exists({ _id: connecting.commandId, state: 'waiting' }))) return
  if (connecting.userId !== command.args.userId) throw new ServiceError('account_held')
  throw new NotYet('another connect of this account has to end first')
}

/**
 * The last step before a connection is created: from here on whoever holds the account knows of it. Answers the archive: the
 * predecessors' where there is one. What the account had besides is being purged: then it begins a new one, the same for every actor that
 * carries out this command. Throws `ClaimLost` when the account is another actor's by now.
 */
export async function letIn({
  account,
  command: { _id: commandId, args },
  inherited,
}: {
  /** As held by this actor. */
  account: Account
  command: Command<'connect'>
  inherited: string | undefined
}): Promise<string> {
  const archiveId = inherited ?? deriveId('archive', args.connectionId)
  const { matchedCount } = await Accounts.updateOne(heldBy(account), {
    $set: {
      connecting: { commandId, userId: args.userId },
      ...(!inherited && { archiveId, backfill: { done: false } }),
    },
  })
  if (matchedCount === 0) throw new ClaimLost('the account is held by another actor')
  return archiveId
}
