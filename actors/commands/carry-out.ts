import { ServiceError } from '../../core/errors.ts'
import { numbersOf } from '../../core/numbers.ts'
import { inSpan, traceOutcome } from '../../core/tracing.ts'
import { heldBy } from '../../schemas/claims.ts'
import { type ActorsCommandKind, type Command, type CommandKind, Commands } from '../../schemas/command/command.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { cancelReservation } from '../../schemas/connection/reservation.ts'
import { ClaimLost } from '../../schemas/held-claims.ts'
import { afterCrash, type Crash } from '../crash.ts'
import type { ActorRuntime } from '../runtime.ts'
import type { CommandWork } from './command-work.ts'
import { connect } from './connect.ts'
import { failCommand, finishCommand } from './finish.ts'
import { ingest } from './ingest.ts'
import { NotYet } from './not-yet.ts'
import { purge } from './purge/purge.ts'
import { sweep } from './purge/sweep.ts'
import { syncNow } from './sync-now.ts'

/** Before a command that has to wait for another is tried again (machine ms). */
const NOT_YET_WAIT_MS = 500

type Handlers = { [K in ActorsCommandKind]: (work: CommandWork<K>) => Promise<void> }

const HANDLERS: Handlers = { connect, purge, ingest, sweep, 'sync-now': syncNow }

/**
 * Carries out one claimed command. A `ServiceError` is its answer; anything else is a crash: it is tried again after a back-off, and
 * fails after five in a row. A command whose process dies is claimed by another and ends the same way; that counts as a crash too.
 */
export function carryOut(work: CommandWork<CommandKind>): Promise<void> {
  const { _id, kind, appId } = work.command
  const attributes = { 'ccs.command_id': _id, 'ccs.app_id': appId }
  return inSpan(`command ${kind}`, { attributes, from: work.command }, () => carryOutOnce(work))
}

async function carryOutOnce({ command, runtime, signal }: CommandWork<CommandKind>): Promise<void> {
  const lost = new AbortController()
  const count = (outcome: string): void => {
    numbersOf(runtime.metrics).commands.inc({ kind: command.kind, outcome })
    traceOutcome(outcome)
  }
  const release = runtime.held.hold(Commands, command, (reason) => lost.abort(reason))
  try {
    const handle = HANDLERS[command.kind as ActorsCommandKind] as (work: CommandWork<CommandKind>) => Promise<void>
    await handle({ command, runtime, signal: AbortSignal.any([signal, lost.signal]) })
    count('done')
  } catch (error) {
    if (lost.signal.aborted) return
    if (signal.aborted) return await handBack(command, runtime)
    if (error instanceof NotYet || error instanceof ClaimLost) return await handBack(command, runtime, NOT_YET_WAIT_MS)
    if (error instanceof ServiceError) {
      count('failed')
      return await failCommand({ command, error, now: runtime.clock.now() })
    }
    count('crashed')
    runtime.log.error({ err: error, commandId: command._id, kind: command.kind }, 'command crashed')
    await countCommandCrash({ command, crash: { error }, runtime })
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

const isConnect = (command: Command): command is Command<'connect'> => command.kind === 'connect'

/** A deletion that was accepted is tried for ever. */
const ENDLESS: ReadonlySet<CommandKind> = new Set<CommandKind>(['purge', 'sweep'])

/** Writes a crash of a claimed command down: it is tried again later, or fails with a reason that operators see. */
export async function countCommandCrash({
  command,
  crash,
  runtime: { clock },
}: {
  command: Command
  crash: Crash
  runtime: Pick<ActorRuntime, 'clock'>
}): Promise<void> {
  // An ingestion that got on since it was claimed has begun to count anew.
  const present = await Commands.findOne(unfinished(command)).select({ crashes: 1 }).lean<Pick<Command, 'crashes'>>()
  if (!present) return
  const endless = ENDLESS.has(command.kind)
  const { crashes, retryAt, reason } = afterCrash({ before: present.crashes, crash, endless, clock })
  if (retryAt === null) {
    if (isConnect(command)) {
      const connectionId = command.target
      await cancelReservation({ connectionId })
      // It is there, and the app has heard of it: what crashes is the end of those before it.
      if (await Connections.exists({ _id: connectionId }))
        return finishCommand({ command, result: { connectionId }, now: clock.now() })
    }
    return failCommand({ command, error: new ServiceError('internal', { reason }), now: clock.now() })
  }
  const waiting = { $set: { crashes, claimableAt: retryAt }, $unset: { claimedBy: 1 } }
  await Commands.updateOne(unfinished(command), waiting)
}
