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

/** While attempts to an app end all the time, so much of its limit is waited for: to claim many deliveries costs little more than to claim one. */
const WORTH_A_CLAIM = 1 / 4

export interface ConcurrencyLimit {
  /** How many further attempts to this app may begin now. */
  free(appId: string): number
  /** Whether more may begin soon: attempts to this app end all the time. */
  freesSoon(appId: string): boolean
  /** Whether nothing is to be claimed for this app now. */
  isFull(appId: string): boolean
  /** Those apps. */
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
  const freesSoon = (appId: string): boolean => clock.elapsed() - (taken.get(appId)?.leftAt ?? 0) < SOON_MS
  const isFull = (appId: string): boolean => free(appId) < (freesSoon(appId) ? limit() * WORTH_A_CLAIM : 1)
  return {
    free,
    freesSoon,
    isFull,
    full: () => [...taken.keys()].filter(isFull),
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
