import { Registry } from 'prom-client'
import { type Clock, SECOND, systemClock } from './clock.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { createKeyring, type Keyring } from './envelope.ts'
import { createLog, type Logger } from './log.ts'
import { createParts, type Parts } from './parts.ts'
import { startTraceExport } from './trace-export.ts'

/** What every process of the service works with; passed down, never imported. */
export interface Runtime {
  config: Config
  clock: Clock
  log: Logger
  keyring: Keyring
  /** The numbers that `/metrics` shows. */
  metrics: Registry
}

/** What a process is at, as operators see it. */
export const PROCESS_STATES = ['starting', 'running', 'draining'] as const
export type ProcessState = (typeof PROCESS_STATES)[number]

/** docs/security.md, Reliability: after SIGTERM finish or hand back what is held within 10 s. */
const STOP_LIMIT_MS = 10 * SECOND

/** Throws `ConfigError`. */
export function createRuntime({ kind, env }: { kind: string; env: Record<string, string | undefined> }): Runtime {
  const config = readConfig(env, { kind })
  return {
    config,
    clock: systemClock({ timeScale: config.TIME_SCALE }),
    log: createLog({ name: kind, level: config.LOG_LEVEL }),
    keyring: createKeyring([config.MASTER_KEY, ...config.OLD_MASTER_KEYS]),
    metrics: new Registry(),
  }
}

/**
 * The life of one process: read the configuration, start, tell the parent `{ready, url}` over IPC (where there is one), stop on
 * SIGTERM, SIGINT or the parent's end, exit 0. A wrong configuration or a failed start is one line on stderr and exit 1; what had
 * started by then is stopped first. `start` adds each part as it starts it and resolves to the address that it listens at, if it does.
 */
export async function runProcess({
  kind,
  start,
}: {
  kind: string
  start: (runtime: Runtime, parts: Parts) => Promise<{ url?: string }>
}): Promise<void> {
  let runtime: Runtime
  try {
    runtime = createRuntime({ kind, env: process.env })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    process.stderr.write(`${kind} cannot start: ${error.message}\n`)
    process.exit(1)
  }
  const { log, clock } = runtime
  const parts = createParts({ log })
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'))
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception')
    process.exit(1)
  })
  let stopping = false
  const stop = async (why: string, status: number): Promise<void> => {
    if (stopping) return
    stopping = true
    log.info({ why }, 'stopping')
    clock.timer(STOP_LIMIT_MS, () => {
      log.error('stop took too long')
      process.exit(1)
    })
    await parts.stop()
    process.exit(status)
  }
  process.on('SIGTERM', () => void stop('SIGTERM', 0))
  process.on('SIGINT', () => void stop('SIGINT', 0))
  process.on('disconnect', () => void stop('parent gone', 0))
  try {
    parts.add(await startTraceExport({ kind, env: process.env, clock, log }))
    const { url } = await start(runtime, parts)
    if (stopping) return
    log.info({ url }, 'ready')
    process.send?.({ ready: true, url })
  } catch (error) {
    // Whoever stops a process that still starts takes parts away from under it.
    if (stopping) return
    log.fatal({ err: error }, `${kind} cannot start`)
    await stop('cannot start', 1)
  }
}
