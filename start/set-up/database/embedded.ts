import { join } from 'node:path'
import { startGuard } from './guard.ts'
import type { Database, DatabaseKind, Setup } from './types.ts'
import { withDatabaseName } from './url.ts'
import { type Watched, type WatchedCommand, watchServer } from './watched.ts'

export interface Embedded {
  database: Database
  /** Starts one of its servers, watched from then on; `logName` is the file in `dataDir/log`. */
  run(server: WatchedCommand & { logName: string }): Promise<Watched>
}

/** A database of servers that this process runs: stopped last to first, and ended by a guard if this process is killed. */
export function embeddedDatabase({ kind, setup }: { kind: DatabaseKind; setup: Setup }): Embedded {
  const guard = startGuard()
  const servers: Watched[] = []
  const pids = (): number[] => servers.flatMap(({ pid }) => pid ?? [])
  return {
    database: {
      kind,
      url: (name) => withDatabaseName(`mongodb://127.0.0.1:${setup.port}`, name),
      get pids() {
        return pids()
      },
      stop: async () => {
        for (const server of servers.toReversed()) await server.stop()
        guard.dismiss()
      },
    },
    run: async ({ logName, ...command }) => {
      const server = await watchServer({
        ...command,
        logFile: join(setup.dataDir, 'log', logName),
        clock: setup.clock,
        progress: setup.progress,
        changed: () => guard.follow(pids()),
      })
      servers.push(server)
      guard.follow(pids())
      return server
    },
  }
}
