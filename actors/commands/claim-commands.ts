import { claimMany } from '../../schemas/claims.ts'
import { type ActorsCommandKind, type Command, type CommandKind, Commands } from '../../schemas/command/command.ts'
import { trusted } from '../../schemas/database.ts'
import { YieldRequested } from '../../schemas/held-claims.ts'
import { holdInMailbox } from '../mailbox-claim.ts'
import type { ActorRuntime } from '../runtime.ts'
import type { Supervisor } from '../supervision.ts'
import { takeUp } from '../take-up.ts'
import { createWorkLimits } from '../work-limits.ts'
import { carryOut, countCommandCrash } from './carry-out.ts'

/** Carried out by one process at a time. An ingestion holds parts of an export in memory; of the others each waits for the database mostly. */
const AT_ONCE: Readonly<Record<ActorsCommandKind, number>> = {
  connect: 100,
  purge: 50,
  ingest: 10,
  sweep: 20,
  'sync-now': 20,
}
const KINDS = Object.keys(AT_ONCE) as ActorsCommandKind[]

/** What ends where a command on the same connection begins: it loses its claim, or goes on afterwards. */
const INTERRUPTED_BY: Partial<Record<CommandKind, ReadonlySet<string>>> = {
  purge: new Set(['sync', 'ingest']),
  ingest: new Set(['sync']),
}
/** Commands on a connection that wait in line with whatever else is done with it. A purge never waits: it takes what others hold. */
const IN_LINE: ReadonlySet<CommandKind> = new Set<CommandKind>(['connect', 'ingest'])

/**
 * Returns what claims commands that are due and gives each to its actor, and says how many. Those on a connection go to that connection's
 * actor, so one process does one thing at a time with it; between processes the fence decides.
 */
export function commandClaims({
  runtime,
  commands,
  connections,
}: {
  runtime: ActorRuntime
  commands: Supervisor
  connections: Supervisor
}): () => Promise<number> {
  const { clock, held, log } = runtime
  const limits = createWorkLimits(AT_ONCE)

  const begin = (kind: ActorsCommandKind, command: Command): void => {
    const leave = limits.take(kind, command.appId)
    const supervisor = IN_LINE.has(kind) && 'connectionId' in command.args ? connections : commands
    const interrupted = INTERRUPTED_BY[kind]
    if (interrupted)
      connections.abort(command.target, interrupted, new YieldRequested('a command waits for this connection'))
    const actor = kind === 'purge' ? command._id : command.target
    const takeOver = holdInMailbox({ held, model: Commands, claim: command })
    void supervisor
      .tell(
        actor,
        kind,
        async (signal) => {
          if (takeOver()) await carryOut({ command, runtime, signal })
        },
        command.crashes,
      )
      .catch((error: unknown) => log.error({ err: error, commandId: command._id }, 'an actor crashed'))
      .finally(leave)
  }

  /** Claims those of one kind that are due, and begins them; returns how many. */
  const beginDue = async (kind: ActorsCommandKind, now: Date): Promise<number> => {
    const limit = limits.room(kind)
    if (limit === 0) return 0
    const crowding = limits.crowding(kind)
    const filter = { kind, ...(crowding.length > 0 && { appId: trusted({ $nin: crowding }) }) }
    const claimed = await claimMany<Command>(Commands, { now, filter, limit })
    await takeUp(claimed, {
      queue: 'commands',
      now,
      runtime,
      begin: (command) => begin(kind, command),
      countCrash: (command) => countCommandCrash({ command, crash: 'lapsed', runtime }),
    })
    return claimed.length
  }

  return async () => {
    const now = clock.now()
    const begun = await Promise.all(KINDS.map((kind) => beginDue(kind, now)))
    return begun.reduce((sum, count) => sum + count, 0)
  }
}
