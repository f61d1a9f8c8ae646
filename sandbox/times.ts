const DAY_S = 24 * 3600

/**
 * Content is the same after every restart, and some of it has to lie within the last 30 days: times that are "recent"
 * count back from this moment (Unix seconds), which moves forward every ten days only.
 */
export function recentAnchor(now: Date): number {
  return Math.floor(now.getTime() / 1000 / (10 * DAY_S)) * 10 * DAY_S
}

export function daysBefore(anchor: number, days: number): number {
  return anchor - days * DAY_S
}

/** ISO 8601 (UTC) as Unix seconds. */
export function at(iso: string): number {
  return Date.parse(iso) / 1000
}
