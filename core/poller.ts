import type { Clock } from './clock.ts'
import type { Logger } from './log.ts'

/** After an error (the database is away) a poller waits this long before it looks again. */
const ERROR_WAIT_MS = 1_000

/** A reason at hand: one that is made for each hint costs more than all the rest of it. */
const HINTED = new Error('hinted')

export interface Poller {
  /** Looks now instead of at the next turn: something was just written. A lost hint costs latency only. */
  hint(): void
  stop(): Promise<void>
}

/**
 * Calls `work` again and again until it is stopped: at once while it finds something (returns more than 0), else after `everyMs`
 * of machine time, at the next hint, or when `nextDue` says that something is due, whichever comes first. Where `nextDue` has passed
 * although nothing was found (there is no room for it, say), after `retryMs`. A pause that nothing ended asks `nextDue` first, which is one
 * small read where `work` may be many. Errors are logged and borne.
 */
export function startPoller({
  name,
  everyMs,
  work,
  nextDue,
  retryMs = everyMs,
  clock,
  log,
}: {
  name: string
  everyMs: number
  work: () => Promise<number>
  /** When the next of what `work` would find is due; undefined where that is later than `everyMs`. */
  nextDue?: () => Promise<Date | undefined>
  retryMs?: number
  clock: Clock
  log: Logger
}): Poller {
  const stopped = new AbortController()
  let wake = new AbortController()
  const pause = (ms: number): Promise<void> =>
    clock.sleep(ms, AbortSignal.any([stopped.signal, wake.signal])).catch(() => undefined)

  const run = async (): Promise<void> => {
    /** Something may be there: all but a pause that nothing ended says so. */
    let expecting = true
    while (!stopped.signal.aborted) {
      wake = new AbortController()
      try {
        if (expecting && (await work()) > 0) continue
        const due = await nextDue?.()
        const dueInMs = due ? due.getTime() - clock.now().getTime() : everyMs
        if (dueInMs <= 0 && !expecting) {
          expecting = true
          continue
        }
        const ms = Math.min(everyMs, dueInMs > 0 ? dueInMs : retryMs)
        await pause(ms)
        expecting = !nextDue || ms < everyMs || wake.signal.aborted
      } catch (error) {
        log.warn({ err: error, poller: name }, 'poll failed')
        await clock.sleep(ERROR_WAIT_MS, stopped.signal).catch(() => undefined)
      }
    }
  }
  const running = run()
  return {
    hint: () => wake.abort(HINTED),
    stop: async () => {
      stopped.abort()
      await running
    },
  }
}
