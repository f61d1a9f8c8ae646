import { type Ref, start, stop } from 'nact'
import { DAY, HOUR } from '../core/clock.ts'
import { startPoller } from '../core/poller.ts'
import { deleteStrayUploads } from '../schemas/archive/export-upload.ts'
import { claimMany } from '../schemas/claims.ts'
import { type Command, type CommandKind, Commands } from '../schemas/command/command.ts'
import { type Connection, Connections } from '../schemas/connection/connection.ts'
import { trusted } from '../schemas/database.ts'
import { YieldRequested } from '../schemas/held-claims.ts'
import { carryOut } from './commands/carry-out.ts'
import { whenDue } from './connection/actor.ts'
import { createDeliveries } from './delivery/deliveries.ts'
import { createOutboxRelay } from './outbox-relay.ts'
import type { ActorRuntime } from './runtime.ts'
import { createSlots } from './slots.ts'
import { type ActorInfo, createSupervisor, type Supervisor } from './supervision.ts'

/** How often each kind of waiting work is looked for (machine ms): an indexed read of what is due, nothing more. */
const COMMANDS_EVERY_MS = 50
const CONNECTIONS_EVERY_MS = 250
const STRAY_UPLOADS_EVERY_MS = HOUR
/** No upload takes so long: what is older and waits for no ingestion was left by a process that died. */
const STRAY_UPLOAD_MS = DAY
/** Claimed in one go; more are claimed at the next turn. */
const CLAIMS_AT_ONCE = 50
/** Syncs that one process runs at a time: each holds a page of conversations in memory. */
const SYNCS_AT_ONCE = 200
const COMMANDS_AT_ONCE = 200

/** Goes before whatever else is due: docs/behaviour.md has the first sync begin within a minute. */
const NEVER_SYNCED = { lastSyncAt: null }

/** Commands that do not wait for what else is done with their connection: it goes on after them. */
const INTERRUPTED_BY: Partial<Record<CommandKind, ReadonlySet<string>>> = {
  purge: new Set(['sync', 'ingest']),
  ingest: new Set(['sync']),
}
/** Commands on a connection that wait in line with whatever else is done with it. */
const IN_LINE: ReadonlySet<CommandKind> = new Set<CommandKind>(['connect', 'purge', 'ingest'])

class Stopping extends Error {
  override name = 'Stopping'
}

export interface Root {
  gauges(): Record<string, number>
  actors(): ActorInfo[]
  stop(): Promise<void>
}

/**
 * The supervisor tree: root → connections, commands, deliveries → shards → one actor per connection, user or delivery. Commands
 * on a connection go to that connection's actor, so one process does one thing at a time with it; between processes the fence decides.
 */
export function startRoot(runtime: ActorRuntime, { syncsAtOnce = SYNCS_AT_ONCE } = {}): Root {
  const { clock, log } = runtime
  const system = start({ name: 'ccs' } as never) as unknown as Ref<unknown>
  const supervise = (name: string): Supervisor => createSupervisor({ parent: system, name, clock, log })
  const connections = supervise('connections')
  const commands = supervise('commands')
  const deliveries = createDeliveries({ runtime, supervisor: supervise('deliveries') })
  const relay = createOutboxRelay({ runtime, accept: deliveries.accept })
  runtime.outboxHint = relay.hint
  const slots = createSlots()

  const claimCommands = async (): Promise<number> => {
    const limit = Math.min(CLAIMS_AT_ONCE, COMMANDS_AT_ONCE - commands.size())
    if (limit <= 0) return 0
    const claimed = await claimMany<Command>(Commands, { now: clock.now(), limit })
    for (const command of claimed) {
      const supervisor = IN_LINE.has(command.kind) && 'connectionId' in command.args ? connections : commands
      const interrupted = INTERRUPTED_BY[command.kind]
      if (interrupted)
        supervisor.abort(command.target, interrupted, new YieldRequested('a command waits for this connection'))
      void supervisor
        .tell(command.target, command.kind, (signal) => carryOut({ command, runtime, signal }))
        .catch(logCrash)
    }
    return claimed.length
  }

  const claimConnections = async (): Promise<number> => {
    const now = clock.now()
    const limit = Math.min(CLAIMS_AT_ONCE, syncsAtOnce - connections.size())
    if (limit <= 0) {
      const due = { ...NEVER_SYNCED, claimableAt: trusted({ $lte: now }) }
      slots.want(await Connections.countDocuments(due).limit(CLAIMS_AT_ONCE))
      return 0
    }
    slots.want(0)
    const claimed = await claimMany<Connection>(Connections, { now, filter: NEVER_SYNCED, limit })
    if (claimed.length < limit)
      claimed.push(...(await claimMany<Connection>(Connections, { now, limit: limit - claimed.length })))
    for (const connection of claimed) {
      const slot = slots.take()
      void connections
        .tell(connection._id, 'sync', (signal) => whenDue({ connection, runtime, signal, slot }))
        .catch(logCrash)
        .finally(slot.leave)
    }
    return claimed.length
  }

  const sweepUploads = async (): Promise<number> => {
    const deleted = await deleteStrayUploads({ before: new Date(clock.now().getTime() - STRAY_UPLOAD_MS) })
    if (deleted > 0) log.info({ deleted }, 'stray uploads deleted')
    return 0
  }

  const logCrash = (error: unknown): void => log.error({ err: error }, 'an actor crashed')
  const pollers = [
    startPoller({ name: 'commands', everyMs: COMMANDS_EVERY_MS, work: claimCommands, clock, log }),
    startPoller({ name: 'connections', everyMs: CONNECTIONS_EVERY_MS, work: claimConnections, clock, log }),
    startPoller({ name: 'uploads', everyMs: STRAY_UPLOADS_EVERY_MS, work: sweepUploads, clock, log }),
  ]
  return {
    gauges: () => ({ connections: connections.size(), commands: commands.size(), deliveries: deliveries.size() }),
    actors: () => [...connections.list(), ...commands.list(), ...deliveries.list()],
    stop: async () => {
      await Promise.all(pollers.map((poller) => poller.stop()))
      const reason = new Stopping('the process stops')
      await Promise.all([connections.stop(reason), commands.stop(reason), deliveries.stop()])
      await relay.stop()
      stop(system as never)
    },
  }
}
