import type { BrowserContext } from 'playwright'
import { errorText } from '../core/errors.ts'
import { deriveId } from '../core/ids.ts'
import type { Runtime } from '../core/process.ts'
import type { ProviderProfile } from '../provider/profile.ts'
import { type Command, Commands } from '../schemas/command/command.ts'
import { awaitCommand, writeCommand } from '../schemas/command/commands.ts'
import { buildConnectCommand } from '../schemas/command/connect-command.ts'
import type { Lease } from '../schemas/lease/lease.ts'
import type { Credential } from '../schemas/secrets.ts'
import type { LeaseOutcome } from './lease-writes.ts'
import { ownState } from './own-state.ts'
import { sessionCookie, type UsableSession } from './session-check.ts'
import { WORDS } from './words.ts'

/** One look at the command's document lasts this long at most; then whoever waits looks whether it still should. */
const WAIT_MS = 5_000
/** A larger browser profile is not kept: it is a convenience for the next login, and a command has to stay a small document. */
const LONGEST_PROFILE = 1_000_000

/** Ids that come from the lease: whichever node goes on with it, the same connection comes of it. */
const connectionIdOf = (leaseId: string): string => deriveId('connection', leaseId)
const commandIdOf = (leaseId: string): string => deriveId('connect', leaseId)

/** True when a node has handed this lease's session over already: no browser is needed, only the end of that. */
export const handedOver = async ({ _id }: Pick<Lease, '_id'>): Promise<boolean> =>
  (await Commands.exists({ _id: commandIdOf(_id) })) !== null

/** Writes the command that makes a connection of the session. */
export async function handOver({
  lease,
  context,
  session,
  profile,
  runtime: { keyring, clock },
}: {
  lease: Lease
  context: BrowserContext
  session: UsableSession
  profile: ProviderProfile
  runtime: Pick<Runtime, 'keyring' | 'clock'>
}): Promise<void> {
  const cookie = await sessionCookie(context, profile)
  if (cookie === null) throw new Error('the session cookie vanished')
  const { id, email } = session.account
  const credential: Credential = {
    cookie,
    accessToken: session.accessToken,
    account: { id, ...(email && { email }) },
  }
  const profileState = JSON.stringify(ownState(await context.storageState(), profile))
  await writeCommand(
    buildConnectCommand({
      id: commandIdOf(lease._id),
      connectionId: connectionIdOf(lease._id),
      appId: lease.appId,
      by: { kind: 'link', id: lease._id },
      userId: lease.userId,
      userRef: lease.userRef,
      provider: lease.provider,
      credential,
      ...(profileState.length <= LONGEST_PROFILE && { profile: profileState }),
      keyring,
      now: clock.now(),
    }),
  )
}

/** Waits until the command has ended, however long the actors take; ends early only with the signal. */
export async function awaitConnection({
  lease,
  runtime: { clock, log },
  signal,
}: {
  lease: Lease
  runtime: Pick<Runtime, 'clock' | 'log'>
  signal: AbortSignal
}): Promise<LeaseOutcome> {
  for (;;) {
    signal.throwIfAborted()
    const wait = { id: commandIdOf(lease._id), clock, timeoutMs: WAIT_MS, signal }
    const command = await awaitCommand<'connect'>(wait).catch(async (error: unknown) => {
      signal.throwIfAborted()
      log.warn({ err: error }, 'the connect command could not be read')
      await clock.sleep(WAIT_MS, signal)
      return null
    })
    if (command) return outcomeOf(command, lease)
  }
}

const outcomeOf = ({ state, failure }: Command<'connect'>, lease: Lease): LeaseOutcome => {
  if (state === 'done') return { state: 'connected', connectionId: connectionIdOf(lease._id) }
  return {
    state: 'failed',
    failure: failure?.code === 'account_held' ? errorText({ code: failure.code }) : WORDS.unfinished,
  }
}
