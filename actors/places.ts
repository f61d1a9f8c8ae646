/** How much of each kind of work one process does at a time, so that no kind fills the places of another. */
interface Places<Kind extends string> {
  free(kind: Kind): number
  /** Takes a place; the returned function gives it back. */
  take(kind: Kind): () => void
}

export function createPlaces<Kind extends string>(limits: Readonly<Record<Kind, number>>): Places<Kind> {
  const taken = new Map<Kind, number>()
  const count = (kind: Kind, by: number): void => {
    taken.set(kind, (taken.get(kind) ?? 0) + by)
  }
  return {
    free: (kind) => Math.max(0, limits[kind] - (taken.get(kind) ?? 0)),
    take: (kind) => {
      count(kind, 1)
      return () => count(kind, -1)
    },
  }
}
