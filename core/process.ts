import { type Clock, systemClock } from './clock.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { createKeyring, type Keyring } from './envelope.ts'
import { createLog, type Logger } from './log.ts'

/** What every process of the service works with; passed down, never imported. */
export interface Runtime {
  config: Config
  clock: Clock
  log: Logger
  keyring: Keyring
}

export interface Running {
  /** Where it listens, if it does. */
  url?: string
  /** Finishes or hands back what is held; has `STOP_LIMIT_MS`. */
  stop(): Promise<void>
}

/** docs/security.md, Reliability: after SIGTERM finish or hand back what is held within 10 s. */
export const STOP_LIMIT_MS = 10_000

export function createRuntime({ kind, env }: { kind: string; env: Record<string, string | undefined> }): Runtime {
  const config = readConfig(env)
  return {
    config,
    clock: systemClock({ timeScale: config.TIME_SCALE }),
    log: createLog({ name: kind, level: config.LOG_LEVEL }),
    keyring: createKeyring([config.MASTER_KEY, ...config.OLD_MASTER_KEYS]),
  }
}

/**
 * The life of one process: read the configuration, start, tell the parent `{ready, url}` over IPC (where there is one), stop on
 * SIGTERM, SIGINT or the parent's end, exit 0. A wrong configuration or a failed start is one line on stderr and exit 1.
 */
export async function runProcess({
  kind,
  start,
}: {
  kind: string
  start: (runtime: Runtime) => Promise<Running>
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
  process.on('unhandledRejection', (error) => log.error({ err: error }, 'unhandled rejection'))
  process.on('uncaughtException', (error) => {
    log.fatal({ err: error }, 'uncaught exception')
    process.exit(1)
  })
  let stopping = false
  let running: Running | undefined
  const stop = async (why: string): Promise<void> => {
    if (stopping) return
    stopping = true
    log.info({ why }, 'stopping')
    clock.timer(STOP_LIMIT_MS, () => {
      log.error('stop took too long')
      process.exit(1)
    })
    await running?.stop().catch((error: unknown) => log.error({ err: error }, 'stop failed'))
    process.exit(0)
  }
  process.on('SIGTERM', () => void stop('SIGTERM'))
  process.on('SIGINT', () => void stop('SIGINT'))
  process.on('disconnect', () => void stop('parent gone'))
  try {
    running = await start(runtime)
  } catch (error) {
    log.fatal({ err: error }, `${kind} cannot start`)
    process.exit(1)
  }
  log.info({ url: running.url }, 'ready')
  process.send?.({ ready: true, url: running.url })
}
