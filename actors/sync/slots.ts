/** One sync's slot among those that a process has. */
export interface Slot {
  /** True once another needs it: its sync ends soon, in good order, and goes on later. */
  isWanted(): boolean
  /** Gives it back. */
  leave(): void
}

/** Who of the syncs of one process gives its slot up for those that must not wait long: as many as wait, whoever looks first. */
interface Slots {
  take(): Slot
  /** How many wait for a slot. */
  want(waiting: number): void
}

export function createSlots(): Slots {
  const leaving = new Set<Slot>()
  let waiting = 0
  return {
    want: (count) => {
      waiting = count
    },
    take: () => {
      const slot: Slot = {
        isWanted: () => {
          if (waiting > leaving.size) leaving.add(slot)
          return leaving.has(slot)
        },
        leave: () => leaving.delete(slot),
      }
      return slot
    },
  }
}
