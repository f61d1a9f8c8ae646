/**
 * How much of each kind of work one process does at a time, so that no kind takes the time of another. An app may have as many places of a
 * kind as are left free besides: whatever one app asks for, the next one finds room.
 */
interface WorkLimits<Kind extends string> {
  free(kind: Kind): number
  /** As many as may be begun in one go, should all of them be of one app that has not its share yet. */
  room(kind: Kind): number
  /** Apps that have their share, those with most places first. */
  crowding(kind: Kind): string[]
  /** Begins one; the returned function ends it. */
  take(kind: Kind, appId: string): () => void
}

export function createWorkLimits<Kind extends string>(limits: Readonly<Record<Kind, number>>): WorkLimits<Kind> {
  const taken = new Map<Kind, Map<string, number>>()
  const appsOf = (kind: Kind): Map<string, number> => {
    const apps = taken.get(kind) ?? new Map<string, number>()
    taken.set(kind, apps)
    return apps
  }
  const free = (kind: Kind): number => {
    const all = [...appsOf(kind).values()].reduce((sum, each) => sum + each, 0)
    return Math.max(0, limits[kind] - all)
  }
  const count = (kind: Kind, appId: string, by: number): void => {
    const apps = appsOf(kind)
    const next = (apps.get(appId) ?? 0) + by
    if (next > 0) apps.set(appId, next)
    else apps.delete(appId)
  }
  return {
    free,
    room: (kind) => {
      const left = free(kind)
      const most = Math.max(0, ...[...appsOf(kind).values()].filter((own) => own < left))
      return Math.ceil((left - most) / 2)
    },
    crowding: (kind) => {
      const left = free(kind)
      const full = [...appsOf(kind)].filter(([, own]) => own >= left)
      return full.sort(([, one], [, other]) => other - one).map(([appId]) => appId)
    },
    take: (kind, appId) => {
      count(kind, appId, 1)
      return () => count(kind, appId, -1)
    },
  }
}
