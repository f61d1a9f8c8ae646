import { DAY, HOUR } from '../core/clock.ts'
import { startPoller } from '../core/poller.ts'
import type { Runtime } from '../core/process.ts'
import { loadProfiles } from '../provider/load-profiles.ts'
import { providerMemory } from '../provider/memory.ts'
import { deleteStrayUploads } from '../schemas/archive/export-upload.ts'
import { firstDue } from '../schemas/claims.ts'
import { Commands } from '../schemas/command/command.ts'
import { Connections } from '../schemas/connection/connection.ts'
import { createHeldClaims } from '../schemas/held-claims.ts'
import type { LiveActor } from '../schemas/operations/actor-snapshot.ts'
import type { Processes } from '../schemas/operations/process-record.ts'
import { serviceKey } from '../schemas/operations/service-key.ts'
import { commandClaims } from './commands/claim-commands.ts'
import { startDelivering } from './delivery/start-delivering.ts'
import { startFlowExpiry } from './expired-flows.ts'
import { startMailing } from './mail/start-mailing.ts'
import { measureQueueAges } from './queue-ages.ts'
import { type ActorRuntime, Stopping } from './runtime.ts'
import { shareOf } from './share.ts'
import { startActorSystem } from './supervision.ts'
import { connectionClaims, SYNCS_AT_ONCE } from './sync/claim-connections.ts'
import { startWorkPoller } from './work-poller.ts'

/** How often connections that are due and found no slot are looked at again (machine ms): a sync is not done sooner. */
const CONNECTIONS_RETRY_MS = 250
const STRAY_UPLOADS_EVERY_MS = HOUR
/** No upload takes so long: what is older and waits for no ingestion was left by a process that died. */
const STRAY_UPLOAD_MS = DAY

interface Actors {
  /** What they work with. */
  runtime: ActorRuntime
  gauges(): Record<string, number>
  /** Those that live now. */
  actors(): LiveActor[]
  /** Finishes or hands back what is held. */
  stop(): Promise<void>
}

/**
 * All actors of one process, on a connected database: supervisors of connections, commands, deliveries and mails, below them shards and one
 * actor per connection, user, delivery or mail; and what finds their work.
 */
export async function startActors(
  base: Runtime,
  {
    syncsAtOnce = SYNCS_AT_ONCE,
    self,
  }: {
    syncsAtOnce?: number
    /** Its record's id, and those of all; without them it takes itself for the only one. */
    self?: { processId: string; processes: Processes }
  } = {},
): Promise<Actors> {
  const { clock, log } = base
  const profiles = await loadProfiles(base.config)
  const paceKey = await serviceKey({ purpose: 'pace', keyring: base.keyring })
  const held = createHeldClaims({ clock, log })
  const system = startActorSystem({ clock, log })
  measureQueueAges(base)
  const connections = system.supervise('connections', 'connection')
  const commands = system.supervise('commands', 'command')
  const delivering = startDelivering({ runtime: base, system, ...(self && { share: shareOf(self) }) })
  const runtime: ActorRuntime = { ...base, held, profiles, paceKey }
  const mails = system.supervise('mails', 'delivery')
  const mailing = startMailing({ runtime, supervisor: mails })

  const pollers = [
    startWorkPoller({
      kind: 'commands',
      work: commandClaims({ runtime, commands, connections }),
      nextDue: () => firstDue(Commands, { now: clock.now() }),
      runtime,
    }),
    startWorkPoller({
      kind: 'connections',
      retryMs: CONNECTIONS_RETRY_MS,
      work: connectionClaims({ runtime, connections, syncsAtOnce }),
      nextDue: () => firstDue(Connections, { now: clock.now() }),
      runtime,
    }),
    startPoller({ name: 'uploads', everyMs: STRAY_UPLOADS_EVERY_MS, work: () => sweepUploads(runtime), clock, log }),
    startFlowExpiry(runtime),
  ]
  return {
    runtime,
    gauges: () => ({
      connections: connections.size(),
      commands: commands.size(),
      deliveries: delivering.size(),
      failedRenewals: held.failedRenewals(),
      providerBytes: providerMemory.taken(),
    }),
    actors: () => [...connections.list(), ...commands.list(), ...delivering.list(), ...mails.list()],
    stop: async () => {
      await Promise.all(pollers.map((poller) => poller.stop()))
      const reason = new Stopping()
      await Promise.all([connections.stop(reason), commands.stop(reason), delivering.stop(), mailing.stop(reason)])
      system.stop()
      await held.stop()
    },
  }
}

/** Returns 0: what an hour's look leaves waits for the next. */
async function sweepUploads({ clock, log }: ActorRuntime): Promise<number> {
  const deleted = await deleteStrayUploads({ before: new Date(clock.now().getTime() - STRAY_UPLOAD_MS) })
  if (deleted > 0) log.info({ deleted }, 'stray uploads deleted')
  return 0
}
