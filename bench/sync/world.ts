import { startActors } from '../../actors/start-actors.ts'
import { Commands } from '../../schemas/command/command.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { until } from '../../test/support/until.ts'
import { startActorsProcess } from '../scale/actors-process.ts'
import { startBenchService } from '../support/service.ts'

const MIB = 1024 * 1024

/** Small beside what is measured, a fold and a whole import, and rare enough to take nothing of it. */
const LOOK = { connected: { everyMs: 2 }, synced: { everyMs: 20, giveUpMs: 300_000 } }

interface SyncWorld {
  /** Connects an account with so many conversations, as a finished login does; the same account again is a reconnect. Returns what it took (ms). */
  connect(total: number): Promise<{ connection: Connection; ms: number }>
  /** Waits for the end of the first sync, which begins by itself. Returns what it took since the connection was there (ms). */
  synced(connection: Connection): Promise<number>
  /** Of the actors. */
  memoryMib(): Promise<number>
  stop(): Promise<void>
}

/**
 * An actors process, as the service's parent starts it, on a real database; `accounts` says how many conversations the provider's accounts may have.
 * Where `syncsAtOnce` is given the actors are in this process, and hear at once of what is written here.
 */
export async function startSyncWorld({
  site,
  accounts,
  syncsAtOnce,
}: {
  site: string
  accounts: number[]
  syncsAtOnce?: number
}): Promise<SyncWorld> {
  const providers = [...new Set(accounts)].map((total) => ({
    id: `bench-${total}`,
    sessionUrl: `${site}/${total}/session`,
    apiBaseUrl: `${site}/${total}`,
  }))
  const service = await startBenchService({ providers })
  const actors =
    syncsAtOnce === undefined
      ? await startActorsProcess(service.env)
      : {
          ...(await startActors(service.runtime, { syncsAtOnce })),
          memoryMib: async () => process.memoryUsage.rss() / MIB,
        }
  return {
    connect: async (total) => {
      const login = { provider: `bench-${total}`, account: `account-${total}`, cookie: 'cookie' }
      const begin = performance.now()
      const { commandId, connectionId } = await service.handOver(login)
      await until('connected', () => Commands.exists({ _id: commandId, state: 'done' }), LOOK.connected)
      const ms = performance.now() - begin
      const connection = await Connections.findById(connectionId).lean<Connection>()
      if (!connection) throw new Error('not connected')
      return { connection, ms }
    },
    synced: async ({ _id }) => {
      const begin = performance.now()
      const { sync } = await until(
        'synced',
        () => Connections.findOne({ _id, 'sync.outcome': /./ }).lean<Connection>(),
        LOOK.synced,
      )
      if (!sync.outcome?.startsWith('complete')) throw new Error(`${sync.outcome}`)
      return performance.now() - begin
    },
    memoryMib: actors.memoryMib,
    stop: async () => {
      await actors.stop()
      await service.stop()
    },
  }
}
