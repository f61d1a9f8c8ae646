/** One sync's slot among those that a process has. */
export interface Slot {
  /** True once another needs it: its sync ends soon, in good order, and goes on later. */
  isWanted(): boolean
  /** Gives it back. */
  leave(): void
}

/** Which syncs of one process give their slots up for those that must not wait long: as many of an app as are wanted of it, whoever looks first. */
interface Slots {
  take(appId: string): Slot
  /** How many slots are wanted, of which apps. */
  want(wanted: ReadonlyMap<string, number>): void
  /** How many were given up since this was last asked, by app. */
  takeGivenUp(): Map<string, number>
}

export function createSlots(): Slots {
  const leaving = new Map<Slot, string>()
  let wanted: ReadonlyMap<string, number> = new Map()
  let givenUp = new Map<string, number>()
  const leavingOf = (appId: string): number => [...leaving.values()].filter((each) => each === appId).length
  return {
    want: (counts) => {
      wanted = counts
    },
    take: (appId) => {
      const slot: Slot = {
        isWanted: () => {
          if ((wanted.get(appId) ?? 0) > leavingOf(appId)) leaving.set(slot, appId)
          return leaving.has(slot)
        },
        leave: () => {
          if (leaving.delete(slot)) givenUp.set(appId, (givenUp.get(appId) ?? 0) + 1)
        },
      }
      return slot
    },
    takeGivenUp: () => {
      const given = givenUp
      givenUp = new Map()
      return given
    },
  }
}
