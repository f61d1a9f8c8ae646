/** How much of each kind of work one process does at a time, so that no kind takes the time of another. */
interface WorkLimits<Kind extends string> {
  free(kind: Kind): number
  /** Begins one; the returned function ends it. */
  take(kind: Kind): () => void
}

export function createWorkLimits<Kind extends string>(limits: Readonly<Record<Kind, number>>): WorkLimits<Kind> {
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
