import type { Clock } from '../../core/clock.ts'

/** Attempts that one process makes to one app at a time: a few hanging answers must not hold up the rest. */
const MOST_PER_APP = 256
/** Attempts of one process in all, before each app's limit gets smaller. */
const MOST_IN_ALL = 4_096
/** What each app may have always, however many others hang. */
const LEAST_PER_APP = 8
/** How much of what is free one app may take. */
const SHARE = 1 / 8

/** An app that none of whose attempts ended for so long (machine ms) is not worth waiting for. */
const SOON_MS = 100

export interface ConcurrencyLimit {
  /** How many further attempts to this app may begin now. */
  free(appId: string): number
  /** Whether more may begin soon: attempts to this app end all the time. */
  freesSoon(appId: string): boolean
  /** Apps for which nothing may be claimed now. */
  full(): string[]
  enter(appId: string): void
  leave(appId: string): void
}

interface Taken {
  attempts: number
  leftAt: number
}

/**
 * Fairness between apps. An endpoint that hangs takes up its own limit and no more; the more endpoints hang, the smaller every limit
 * gets, so that an app that answers is always free to go on.
 */
export function createConcurrencyLimit({ clock }: { clock: Clock }): ConcurrencyLimit {
  const taken = new Map<string, Taken>()
  let all = 0
  const limit = (): number => Math.min(MOST_PER_APP, Math.max(LEAST_PER_APP, Math.floor((MOST_IN_ALL - all) * SHARE)))
  const free = (appId: string): number => Math.max(0, limit() - (taken.get(appId)?.attempts ?? 0))
  return {
    free,
    freesSoon: (appId) => clock.elapsed() - (taken.get(appId)?.leftAt ?? 0) < SOON_MS,
    full: () => [...taken.keys()].filter((appId) => free(appId) === 0),
    enter: (appId) => {
      const present = taken.get(appId)
      if (present) present.attempts += 1
      else taken.set(appId, { attempts: 1, leftAt: 0 })
      all += 1
    },
    leave: (appId) => {
      const present = taken.get(appId)
      if (!present) return
      present.attempts -= 1
      present.leftAt = clock.elapsed()
      if (present.attempts === 0) taken.delete(appId)
      all -= 1
    },
  }
}
