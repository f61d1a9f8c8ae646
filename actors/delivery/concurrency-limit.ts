import type { Clock } from '../../core/clock.ts'

/** Attempts that one process makes to one app at a time: a few hanging answers must not hold up the rest. */
const ROOM_PER_APP = 256
/** Attempts of one process in all, before rooms get smaller. */
const ROOM_IN_ALL = 4_096
/** What each app has always, however many others hang. */
const LEAST_ROOM = 8
/** How much of the free space one app may take. */
const SHARE = 1 / 8

/** An app that none of whose attempts ended for so long (machine ms) is not worth waiting for. */
const FLOW_MS = 100

export interface Rooms {
  /** How many further attempts to this app may begin now. */
  free(appId: string): number
  /** Whether there will be more room soon: attempts to this app end all the time. */
  flows(appId: string): boolean
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
 * Fairness between apps. An endpoint that hangs fills its own room and no more; the more endpoints hang, the smaller every room
 * gets, so that there is always some free for an app that answers.
 */
export function createRooms({ clock }: { clock: Clock }): Rooms {
  const taken = new Map<string, Taken>()
  let all = 0
  const room = (): number => Math.min(ROOM_PER_APP, Math.max(LEAST_ROOM, Math.floor((ROOM_IN_ALL - all) * SHARE)))
  const free = (appId: string): number => Math.max(0, room() - (taken.get(appId)?.attempts ?? 0))
  return {
    free,
    flows: (appId) => clock.elapsed() - (taken.get(appId)?.leftAt ?? 0) < FLOW_MS,
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
