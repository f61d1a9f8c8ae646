import { type Clock, MINUTE } from '../../core/clock.ts'
import type { Connection } from '../../schemas/connection/connection.ts'

/** What names the version of a connection's archive. */
export type Versioned = Pick<Connection, '_id' | 'fence' | 'claimedBy' | 'settled'>

/**
 * Names the version of a connection's archive that nobody writes to; null while somebody does. Whoever writes to an archive
 * holds the connection's claim, and every claim has a fence of its own; a sync says after each batch that nothing is being written until the next.
 */
export function archiveVersion({ _id, fence, claimedBy, settled }: Versioned): string | null {
  if (claimedBy === undefined) return `${_id}|${fence}`
  return settled?.fence === fence ? `${_id}|${fence}|${settled.batches}` : null
}

/**
 * What was learned of one version of an archive. A hint only: a lost one costs a query. It is given up after a minute all the same, should a
 * writer that lost its claim have been at work.
 */
interface VersionCache<T> {
  get(name: string | null): T | undefined
  set(name: string | null, value: T): void
}

/** How long (ms) anything is kept. */
export const CACHED_MS = MINUTE

export function createVersionCache<T>({ clock, most }: { clock: Clock; most: number }): VersionCache<T> {
  const byName = new Map<string, { value: T; until: number }>()
  return {
    get: (name) => {
      const found = name === null ? undefined : byName.get(name)
      return found && found.until > clock.elapsed() ? found.value : undefined
    },
    set: (name, value) => {
      if (name === null) return
      byName.delete(name)
      byName.set(name, { value, until: clock.elapsed() + CACHED_MS })
      dropOldest(byName, most)
    },
  }
}

/** Of a map that grows by one at a time. */
export function dropOldest<K>(map: Map<K, unknown>, most: number): void {
  if (map.size <= most) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
