import { ServiceError } from '../../core/errors.ts'
import { heldBy } from '../../schemas/claims.ts'
import { type Command, type CommandKind, Commands } from '../../schemas/command/command.ts'
import { cancelReservation } from '../../schemas/connection/reservation.ts'
import { ClaimLost } from '../../schemas/held-claims.ts'
import { CRASHES_TO_QUARANTINE, crashBackOff } from '../crash.ts'
import type { ActorRuntime } from '../runtime.ts'
import type { CommandWork } from './command-work.ts'
import { connect } from './connect.ts'
import { failCommand } from './finish.ts'
import { ingest } from './ingest.ts'
import { NotYet } from './not-yet.ts'
import { purge } from './purge/purge.ts'
import { sweep } from './purge/sweep.ts'
import { syncNow, testEvent } from './small.ts'

/** Before a command that has to wait for another is tried again (machine ms). */
const NOT_YET_WAIT_MS = 500

type Handlers = { [K in CommandKind]: (work: CommandWork<K>) => Promise<void> }

const HANDLERS: Handlers = { connect, purge, ingest, sweep, 'sync-now': syncNow, 'test-event': testEvent }

/**
 * Carries out one claimed command. A `ServiceError` is its answer; anything else is a crash: it is tried again after a back-off, and
 * fails after five in a row. A command whose process dies is claimed by another and ends the same way.
 */
export async function carryOut({ command, runtime, signal }: CommandWork<CommandKind>): Promise<void> {
  const lost = new AbortController()
  const release = runtime.held.hold(Commands, command, (reason) => lost.abort(reason))
  try {
    const handle = HANDLERS[command.kind] as (work: CommandWork<CommandKind>) => Promise<void>
    await handle({ command, runtime, signal: AbortSignal.any([signal, lost.signal]) })
  } catch (error) {
    if (lost.signal.aborted) return
    if (signal.aborted) return await handBack(command, runtime)
    if (error instanceof NotYet || error instanceof ClaimLost) return await handBack(command, runtime, NOT_YET_WAIT_MS)
    if (error instanceof ServiceError) return await failCommand({ command, error, now: runtime.clock.now() })
    runtime.log.error({ err: error, commandId: command._id, kind: command.kind }, 'command crashed')
    await afterCrash(command, runtime)
  } finally {
    release()
  }
}

/** A command may have ended although its actor crashed: the answer to the last write was lost. */
const unfinished = (command: Command) => ({ ...heldBy(command), state: 'waiting' as const })

async function handBack(command: Command, { clock }: ActorRuntime, waitMs = 0): Promise<void> {
  const claimableAt = new Date(clock.now().getTime() + waitMs)
  await Commands.updateOne(unfinished(command), { $set: { claimableAt }, $unset: { claimedBy: 1 } })
}

async function afterCrash(command: Command, { clock }: ActorRuntime): Promise<void> {
  const crashes = command.crashes + 1
  if (crashes >= CRASHES_TO_QUARANTINE && command.kind !== 'purge' && command.kind !== 'sweep') {
    if (command.kind === 'connect') await cancelReservation({ connectionId: command.target })
    await failCommand({ command, error: new ServiceError('internal'), now: clock.now() })
    return
  }
  const claimableAt = clock.after(crashBackOff(crashes))
  await Commands.updateOne(unfinished(command), { $set: { crashes, claimableAt }, $unset: { claimedBy: 1 } })
}
