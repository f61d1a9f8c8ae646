/** One sync's place among those that a process has. */
export interface Place {
  /** True once another needs it: its sync ends soon, in good order, and goes on later. */
  isWanted(): boolean
  /** Gives it back. */
  leave(): void
}

/** Who of the syncs of one process gives its place up for those that must not wait long: as many as wait, whoever looks first. */
export interface Places {
  take(): Place
  /** How many wait for a place. */
  want(waiting: number): void
}

export function createPlaces(): Places {
  const leaving = new Set<Place>()
  let waiting = 0
  return {
    want: (count) => {
      waiting = count
    },
    take: () => {
      const place: Place = {
        isWanted: () => {
          if (waiting > leaving.size) leaving.add(place)
          return leaving.has(place)
        },
        leave: () => leaving.delete(place),
      }
      return place
    },
  }
}
