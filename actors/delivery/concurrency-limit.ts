import type { Clock } from '../../core/clock.ts'

/** Attempts that one process makes to one app at a time: a few hanging answers must not hold up the rest. */
const MOST_PER_APP = 256
/** Attempts of one process in all, before each app's limit gets smaller. */
const MOST_IN_ALL = 4_096
/** What each app may have always, however many others hang. */
const LEAST_PER_APP = 8
/** How much of what is free one app may take. */
const SHARE = 1 / 8

/** Results that wait to be written: with so many of them the database is behind, and nothing begins, so that claims do not run out before their results are written. */
const MOST_UNWRITTEN = 1_024

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
  /** Takes room for one attempt, until it leaves. */
  enter(appId: string): Room
}

export interface Room {
  /** The endpoint is done with it: another may begin while its result is written. */
  leave(): void
  /** Its result is written, or it comes to nothing: leaves where it has not yet. */
  end(): void
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
  let unwritten = 0
  const limit = (): number => Math.min(MOST_PER_APP, Math.max(LEAST_PER_APP, Math.floor((MOST_IN_ALL - all) * SHARE)))
  const free = (appId: string): number =>
    unwritten < MOST_UNWRITTEN ? Math.max(0, limit() - (taken.get(appId)?.attempts ?? 0)) : 0
  const freesSoon = (appId: string): boolean => clock.elapsed() - (taken.get(appId)?.leftAt ?? 0) < SOON_MS
  const isFull = (appId: string): boolean => free(appId) < (freesSoon(appId) ? limit() * WORTH_A_CLAIM : 1)
  return {
    free,
    freesSoon,
    isFull,
    full: () => [...taken.keys()].filter(isFull),
    enter: (appId) => {
      const present = taken.get(appId) ?? { attempts: 0, leftAt: 0 }
      taken.set(appId, present)
      present.attempts += 1
      all += 1
      let entered = true
      const leave = (): void => {
        if (!entered) return
        entered = false
        all -= 1
        unwritten += 1
        present.attempts -= 1
        present.leftAt = clock.elapsed()
        if (present.attempts === 0) taken.delete(appId)
      }
      return {
        leave,
        end: () => {
          leave()
          unwritten -= 1
        },
      }
    },
  }
}
