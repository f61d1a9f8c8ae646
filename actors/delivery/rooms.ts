/** Attempts that one process makes to one app at a time: a few hanging answers must not hold up the rest. */
const ROOM_PER_APP = 256
/** Attempts of one process in all, before rooms get smaller. */
const ROOM_IN_ALL = 4_096
/** What each app has always, however many others hang. */
const LEAST_ROOM = 8
/** How much of the free space one app may take. */
const SHARE = 1 / 8

export interface Rooms {
  /** How many further attempts to this app may begin now. */
  free(appId: string): number
  /** Apps for which nothing may be claimed now. */
  full(): string[]
  enter(appId: string): void
  leave(appId: string): void
}

/**
 * Fairness between apps. An endpoint that hangs fills its own room and no more; the more endpoints hang, the smaller every room
 * gets, so that there is always some free for an app that answers.
 */
export function createRooms(): Rooms {
  const taken = new Map<string, number>()
  let all = 0
  const room = (): number => Math.min(ROOM_PER_APP, Math.max(LEAST_ROOM, Math.floor((ROOM_IN_ALL - all) * SHARE)))
  const free = (appId: string): number => Math.max(0, room() - (taken.get(appId) ?? 0))
  return {
    free,
    full: () => [...taken.keys()].filter((appId) => free(appId) === 0),
    enter: (appId) => {
      taken.set(appId, (taken.get(appId) ?? 0) + 1)
      all += 1
    },
    leave: (appId) => {
      const left = (taken.get(appId) ?? 0) - 1
      if (left > 0) taken.set(appId, left)
      else taken.delete(appId)
      all -= 1
    },
  }
}
