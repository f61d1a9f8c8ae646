import { type Clock, MINUTE } from '../../core/clock.ts'
import { countSelected, findKey, type Place, type Selection, type SortKey } from '../../schemas/conversation-order.ts'

/**
 * What was learned of one archive's order while nobody wrote to it, so that reading on by offset does not walk all that was read
 * before. A hint only: it is named by the state of the connection, and a lost one costs a walk.
 */
interface Known {
  until: number
  total?: number
  /** Keys of conversations by how many others are before them. */
  keys: Map<number, SortKey>
}

export interface Places {
  total(selection: Selection, state: string | null): Promise<number>
  /** The place that `offset` conversations are before; null beyond the end, undefined for the beginning. */
  find(selection: Selection, options: { offset: number; state: string | null }): Promise<Place | null | undefined>
  learn(selection: Selection, options: { offset: number; key: SortKey; state: string | null }): void
}

const KEPT_MS = MINUTE
const MOST_ARCHIVES = 1_000
const MOST_KEYS = 256

/** `state` of the methods: names a state of the archive during which nobody writes to it; null while somebody does. */
export function createPlaces({ clock }: { clock: Clock }): Places {
  const archives = new Map<string, Known>()

  const known = ({ archiveId, updatedAfter }: Selection, state: string | null): Known | undefined => {
    if (state === null) return undefined
    const name = `${archiveId}|${state}|${updatedAfter?.getTime() ?? ''}`
    const now = clock.elapsed()
    const found = archives.get(name)
    if (found && found.until > now) return found
    archives.delete(name)
    const fresh: Known = { until: now + KEPT_MS, keys: new Map() }
    archives.set(name, fresh)
    dropOldest(archives, MOST_ARCHIVES)
    return fresh
  }

  return {
    total: async (selection, state) => {
      const kept = known(selection, state)
      if (kept?.total !== undefined) return kept.total
      const total = await countSelected(selection)
      if (kept) kept.total = total
      return total
    },
    find: async (selection, { offset, state }) => {
      if (offset === 0) return undefined
      const nearest = nearestKey(known(selection, state)?.keys, offset)
      if (nearest?.offset === offset) return { key: nearest.key, inclusive: true }
      const from = nearest && { key: nearest.key, inclusive: true }
      const key =
        (await findKey({ selection, skip: offset - (nearest?.offset ?? 0), ...(from && { from }) })) ??
        // Conversations without a time are no part of the range from a place on.
        (from ? await findKey({ selection, skip: offset }) : null)
      return key && { key, inclusive: true }
    },
    learn: (selection, { offset, key, state }) => {
      const keys = known(selection, state)?.keys
      if (!keys) return
      keys.set(offset, key)
      dropOldest(keys, MOST_KEYS)
    },
  }
}

function nearestKey(keys: Map<number, SortKey> | undefined, offset: number) {
  let best: { offset: number; key: SortKey } | undefined
  for (const [at, key] of keys ?? []) if (at <= offset && at > (best?.offset ?? -1)) best = { offset: at, key }
  return best
}

function dropOldest<K>(map: Map<K, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}
