import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, renameSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Clock } from '../../../core/clock.ts'
import { type End, type Kept, keepRunning } from '../keep-running.ts'

const SHORTEST_DELAY_MS = 100
const LONGEST_DELAY_MS = 5_000
/** A server that ran this long was well: the next restart is at once again. */
const WELL_AFTER_MS = 10_000
const LOG_TAIL_LINES = 5

export interface Watched extends Kept {
  /** How often it has ended by itself so far. */
  readonly failures: number
  /** The last lines that it wrote, for an error message. */
  tail(): Promise<string>
}

export interface WatchedCommand {
  name: string
  command: string
  args: string[]
  env: Record<string, string | undefined>
  cwd: string
  stopSignal: NodeJS.Signals
  /** How long it may take to end before it is killed. */
  stopLimitMs: number
}

/** Runs a server and runs it again, after a delay that grows from 0.1 s to 5 s, whenever it ends by itself. */
export async function watchServer({
  name,
  command,
  args,
  env,
  cwd,
  logFile,
  progress,
  ...rest
}: WatchedCommand & {
  logFile: string
  clock: Clock
  progress(message: string): void
  /** Called whenever the process id changes. */
  changed(): void
}): Promise<Watched> {
  let failures = 0
  let delay = SHORTEST_DELAY_MS
  await mkdir(dirname(logFile), { recursive: true })
  keepPrevious(logFile)

  const launch = (): ChildProcess => {
    const output = openSync(logFile, 'a', 0o600)
    // Detached: Ctrl-C in a terminal reaches the parent only, which ends its own processes before their database.
    const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', output, output] })
    closeSync(output)
    return child
  }
  const ended = ({ why, ranMs }: End): number => {
    failures += 1
    delay = ranMs > WELL_AFTER_MS ? SHORTEST_DELAY_MS : Math.min(delay * 2, LONGEST_DELAY_MS)
    if (failures === 1) progress(`${name} ended (${why}); starting it again`)
    return delay
  }
  const kept = keepRunning({ ...rest, launch, ended })
  return {
    get pid() {
      return kept.pid
    },
    get failures() {
      return failures
    },
    tail: async () => (await readFile(logFile, 'utf8')).trimEnd().split('\n').slice(-LOG_TAIL_LINES).join(' | '),
    stop: kept.stop,
  }
}

/** The log of the start before this one stays beside it; older ones go, so that logs cannot fill the disk over many starts. */
function keepPrevious(logFile: string): void {
  try {
    renameSync(logFile, `${logFile}.previous`)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
