import { type Clock, SECOND } from './clock.ts'
import type { Logger } from './log.ts'
import { createWakeable } from './wakeable.ts'
import { within } from './within.ts'

/** After an error (the database is away) a poller waits this long before it looks again. */
const ERROR_WAIT_MS = 1_000

/**
 * A look that takes longer (machine ms), and longer than from one look to the next, is taken for one whose connection fell silent, which the
 * driver finds out much later: another is made beside it.
 */
const LATE_MS = 5 * SECOND
/** As many at once as begin until the driver gives the first up; no more, so that a database that is merely slow does not get slower. */
const MOST_LOOKS = 5
/** So long a look under way is waited for in the end (machine ms): what else its process holds has to be handed back in time. */
const STOP_MS = 2 * SECOND

const nothing = (): void => undefined

export interface Poller {
  /** Looks now instead of at the next turn: something was just written. A lost hint costs latency only. */
  hint(): void
  stop(): Promise<void>
}

/**
 * Calls `work` again and again until it is stopped: at once while it finds something (returns more than 0), else after `everyMs`
 * of machine time, at the next hint, or when `nextDue` says that something is due, whichever comes first. Where `nextDue` has passed
 * although nothing was found (there is no room for it, say), after `retryMs`. A pause that nothing ended asks `nextDue` first, which is one
 * small read where `work` may be many. Errors are logged and borne, and so is a look that takes too long: `work` may be called a second
 * time meanwhile.
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
  const hinted = createWakeable({ clock })
  const lateMs = Math.max(LATE_MS, everyMs)
  const looks = new Set<Promise<void>>()
  const inTime = async <T>(look: () => Promise<T>): Promise<T> => {
    while (looks.size >= MOST_LOOKS) await Promise.race(looks)
    const looking = look()
    const ended: Promise<void> = looking.then(nothing, nothing).finally(() => looks.delete(ended))
    looks.add(ended)
    return within(lateMs, looking, { clock, late: () => new Error(`no answer within ${lateMs} ms`) })
  }

  const run = async (): Promise<void> => {
    /** Something may be there: all but a pause that nothing ended says so. */
    let expecting = true
    while (!stopped.signal.aborted) {
      hinted.forget()
      try {
        if (expecting && (await inTime(work)) > 0) continue
        const due = nextDue && (await inTime(nextDue))
        const dueInMs = due ? due.getTime() - clock.now().getTime() : everyMs
        if (dueInMs <= 0 && !expecting) {
          expecting = true
          continue
        }
        const ms = Math.min(everyMs, dueInMs > 0 ? dueInMs : retryMs)
        await hinted.pause(ms, stopped.signal).catch(nothing)
        expecting = !nextDue || ms < everyMs || hinted.isWoken()
      } catch (error) {
        log.warn({ err: error, poller: name }, 'poll failed')
        await clock.sleep(ERROR_WAIT_MS, stopped.signal).catch(() => undefined)
      }
    }
  }
  const running = run()
  return {
    hint: hinted.wake,
    stop: async () => {
      stopped.abort()
      const ended = running.then(() => Promise.all(looks))
      await within(STOP_MS, ended, { clock, late: () => new Error(`no answer within ${STOP_MS} ms`) }).catch(
        (error: unknown) => log.warn({ err: error, poller: name }, 'a poll under way is left'),
      )
    },
  }
}
