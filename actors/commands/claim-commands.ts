import { claimMany } from '../../schemas/claims.ts'
import { type Command, type CommandKind, Commands } from '../../schemas/command/command.ts'
import { YieldRequested } from '../../schemas/held-claims.ts'
import type { ActorRuntime } from '../runtime.ts'
import type { Supervisor } from '../supervision.ts'
import { carryOut } from './carry-out.ts'

/** Claimed in one go; more are claimed at the next turn. */
const CLAIMS_AT_ONCE = 50
const COMMANDS_AT_ONCE = 200

/** Commands that do not wait for what else is done with their connection: it goes on after them. */
const INTERRUPTED_BY: Partial<Record<CommandKind, ReadonlySet<string>>> = {
  purge: new Set(['sync', 'ingest']),
  ingest: new Set(['sync']),
}
/** Commands on a connection that wait in line with whatever else is done with it. */
const IN_LINE: ReadonlySet<CommandKind> = new Set<CommandKind>(['connect', 'purge', 'ingest'])

/**
 * Claims commands that are due and gives each to its actor; returns how many. Those on a connection go to that connection's actor, so
 * one process does one thing at a time with it; between processes the fence decides.
 */
export async function claimCommands({
  runtime,
  commands,
  connections,
}: {
  runtime: ActorRuntime
  commands: Supervisor
  connections: Supervisor
}): Promise<number> {
  const limit = Math.min(CLAIMS_AT_ONCE, COMMANDS_AT_ONCE - commands.size())
  if (limit <= 0) return 0
  const claimed = await claimMany<Command>(Commands, { now: runtime.clock.now(), limit })
  for (const command of claimed) {
    const supervisor = IN_LINE.has(command.kind) && 'connectionId' in command.args ? connections : commands
    const interrupted = INTERRUPTED_BY[command.kind]
    if (interrupted)
      supervisor.abort(command.target, interrupted, new YieldRequested('a command waits for this connection'))
    void supervisor
      .tell(command.target, command.kind, (signal) => carryOut({ command, runtime, signal }))
      .catch((error: unknown) => runtime.log.error({ err: error, commandId: command._id }, 'an actor crashed'))
  }
  return claimed.length
}
