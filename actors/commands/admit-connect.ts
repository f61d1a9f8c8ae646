import { ServiceError } from '../../core/errors.ts'
import { deriveId } from '../../core/ids.ts'
import { heldBy } from '../../schemas/claims.ts'
import { type Command, Commands } from '../../schemas/command/command.ts'
import { type Account, Accounts } from '../../schemas/connection/account.ts'
import { ClaimLost } from '../../schemas/held-claims.ts'
import { NotYet } from './not-yet.ts'

/**
 * Looks whether another connect was admitted and has not ended, because its actor stalled or died: its connection cannot be seen yet.
 * Throws `ServiceError` where it is another user's, `NotYet` where it is of the same user: it goes first.
 */
export async function awaitOtherConnect({ connecting }: Account, command: Command<'connect'>): Promise<void> {
  if (!connecting || connecting.commandId === command._id) return
  if (!(await Commands.exists({ _id: connecting.commandId, state: 'waiting' }))) return
  if (connecting.userId !== command.args.userId) throw new ServiceError('account_held')
  throw new NotYet('another connect of this account has to end first')
}

/**
 * The last step before a connection is created: from here on whoever holds the account knows of it. Returns the archive: the
 * predecessors' where there is one. What the account had besides is being purged: then it begins a new one, the same for every actor that
 * carries out this command. Throws `ClaimLost` when the account is another actor's by now.
 */
export async function admitConnect({
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
