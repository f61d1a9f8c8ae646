import type { BrowserContext } from 'playwright'
import { SECOND } from '../core/clock.ts'
import { deriveId } from '../core/ids.ts'
import type { Runtime } from '../core/process.ts'
import type { ProviderProfile } from '../provider/profile.ts'
import type { Command, CommandArguments } from '../schemas/command/command.ts'
import { awaitCommand, writeCommand } from '../schemas/command/commands.ts'
import { buildConnectCommand } from '../schemas/command/connect-command.ts'
import type { Lease } from '../schemas/lease/lease.ts'
import type { Credential } from '../schemas/secrets.ts'
import { answerOf } from './answer-of.ts'
import { LeaseEnd } from './lease-end.ts'
import { forgetSession, type LeaseOutcome, writeAsHolder } from './lease-writes.ts'
import { ownState } from './own-state.ts'
import { sessionCookie, type UsableSession } from './session-check.ts'

/** One look at the command's document lasts this long at most; then whoever waits looks whether it still should. */
const WAIT_MS = 5_000
/** Until a database that is away is asked again (machine time). */
const AGAIN_MS = SECOND
/** A larger browser profile is not kept: it is a convenience for the next login, and a command has to stay a small document. */
const LONGEST_PROFILE = 1_000_000

/** Ids that come from the lease: whichever node goes on with it, the same connection comes of it. */
const connectionIdOf = (leaseId: string): string => deriveId('connection', leaseId)
const commandIdOf = (leaseId: string): string => deriveId('connect', leaseId)

/** The session of this context, sealed as what the connect command will carry. Throws where the cookie has vanished. */
export async function sealSession({
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
}): Promise<CommandArguments['connect']> {
  const cookie = await sessionCookie(context, profile)
  if (cookie === null) throw new Error('the session cookie vanished')
  const { id, email } = session.account
  const credential: Credential = {
    cookie,
    accessToken: session.accessToken,
    account: { id, ...(email && { email }) },
  }
  const state = await answerOf(context.storageState(), clock)
  const profileState = state && JSON.stringify(ownState(state, profile))
  return buildConnectCommand({
    ...commandOf(lease),
    connectionId: connectionIdOf(lease._id),
    leaseId: lease._id,
    ...(lease.tellsEnd && { flowId: lease._id }),
    userId: lease.userId,
    userRef: lease.userRef,
    generation: lease.generation,
    provider: lease.provider,
    credential,
    ...(profileState && profileState.length <= LONGEST_PROFILE && { profile: profileState }),
    keyring,
    now: clock.now(),
  }).args
}

const commandOf = ({ _id, appId }: Lease) => ({ id: commandIdOf(_id), appId, by: { kind: 'link', id: _id } }) as const

/**
 * The point of no return, one fenced write: from here on the flow ends as its connect command does. A node that lost the lease meanwhile, or
 * whose lease has been ended, hands nothing over, however late it wakes up. The command itself is written from what stands in the lease.
 */
export async function handOver({
  lease,
  args,
  ...waiting
}: Waiting & { args: CommandArguments['connect'] }): Promise<void> {
  const held = { commandId: commandIdOf(lease._id), args }
  // An answer that was lost is asked for again: the write is the same.
  const written = await untilAnswered(waiting, () => writeAsHolder(lease, { state: 'checking', handOver: held }))
  if (!written) throw new LeaseEnd('lost')
  lease.handOver = held
}

interface Waiting {
  lease: Lease
  runtime: Pick<Runtime, 'clock' | 'log'>
  signal: AbortSignal
}

/** Does what the database is asked for until it says what came of it. Throws the signal's reason. */
async function untilAnswered<T>(
  { runtime: { clock, log }, signal }: Omit<Waiting, 'lease'>,
  ask: () => Promise<T>,
): Promise<T> {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      log.warn({ err: error }, 'a hand-over waits for the database')
      await clock.sleep(AGAIN_MS, signal)
    }
  }
}

/** Writes the command of a lease that was handed over, and waits until it has ended, however long the actors take; ends early only with the signal. */
export async function awaitConnection({ lease, ...waiting }: Waiting): Promise<LeaseOutcome> {
  const { runtime, signal } = waiting
  const args = lease.handOver?.args
  if (args) {
    const command = { ...commandOf(lease), kind: 'connect', target: args.connectionId, args } as const
    await untilAnswered(waiting, () => writeCommand({ ...command, now: runtime.clock.now() }))
    await untilAnswered(waiting, () => forgetSession(lease))
  }
  for (;;) {
    const wait = { id: commandIdOf(lease._id), clock: runtime.clock, timeoutMs: WAIT_MS, signal }
    const command = await untilAnswered(waiting, () => awaitCommand<'connect'>(wait))
    if (command) return outcomeOf(command, lease)
  }
}

const outcomeOf = ({ state, failure }: Command<'connect'>, lease: Lease): LeaseOutcome => {
  if (state === 'done') return { state: 'connected', connectionId: connectionIdOf(lease._id) }
  return {
    state: 'failed',
    failure: failure?.code === 'account_held' ? 'account_held' : 'not_completed',
  }
}
