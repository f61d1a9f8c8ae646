import type { ChildProcess } from 'node:child_process'
import type { Clock } from '../../core/clock.ts'

/** How a process ended that nobody had stopped. */
export interface End {
  /** Its signal or status, or why it could not be started. */
  why: string
  /** How long it ran (machine ms). */
  ranMs: number
}

export interface Kept {
  readonly pid: number | undefined
  /** Ends it for good; resolves when it has ended. */
  stop(): Promise<void>
}

/** Runs a process, and runs it again whenever it ends by itself, until it is stopped. */
export function keepRunning({
  launch,
  ended,
  changed = () => undefined,
  stopSignal = 'SIGTERM',
  stopLimitMs,
  clock,
}: {
  launch(): ChildProcess
  /** Hears of each end; returns after how many ms it is started again, or undefined where it is given up. */
  ended(end: End): number | undefined
  /** Called whenever the process id changes. */
  changed?: () => void
  stopSignal?: NodeJS.Signals
  /** How long it may take to end before it is killed. */
  stopLimitMs: number
  clock: Clock
}): Kept {
  let current: ChildProcess | undefined
  let gone: Promise<void> = Promise.resolve()
  let stopping = false

  const run = (): void => {
    const startedAt = clock.elapsed()
    const child = launch()
    current = child
    gone = new Promise((resolve) => {
      const end = (why: string): void => {
        if (current !== child) return
        current = undefined
        changed()
        resolve()
        if (stopping) return
        const wait = ended({ why, ranMs: clock.elapsed() - startedAt })
        if (wait !== undefined) clock.timer(wait, () => stopping || run())
      }
      child.on('error', (error) => end(error.message))
      child.on('exit', (status, signal) => end(signal ?? `status ${status}`))
    })
    changed()
  }
  run()

  return {
    get pid() {
      return current?.pid
    },
    stop: async () => {
      stopping = true
      const last = current
      if (!last) return
      last.kill(stopSignal)
      const limit = clock.timer(stopLimitMs, () => last.kill('SIGKILL'))
      await gone
      limit.cancel()
    },
  }
}
