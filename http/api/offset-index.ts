import type { Clock } from '../../core/clock.ts'
import {
  countSelected,
  findKey,
  type Place,
  type Selection,
  type SortKey,
} from '../../schemas/archive/conversation-order.ts'
import { createKept, dropOldest } from './archive-version.ts'

/** What was learned of one archive's order, so that reading on by offset does not walk all that was read before. */
interface Known {
  total?: number
  /** Keys of conversations by how many others are before them. */
  keys: Map<number, SortKey>
}

/** `state` is that of resting.ts; nothing is learned without one. */
export interface Places {
  total(selection: Selection, state: string | null): Promise<number>
  /** The place that `offset` conversations are before; null beyond the end, undefined for the beginning. */
  find(selection: Selection, options: { offset: number; state: string | null }): Promise<Place | null | undefined>
  learn(selection: Selection, options: { offset: number; key: SortKey; state: string | null }): void
}

const MOST_ARCHIVES = 1_000
const MOST_KEYS = 256

export function createPlaces({ clock }: { clock: Clock }): Places {
  const archives = createKept<Known>({ clock, most: MOST_ARCHIVES })

  /** Without a state it is forgotten at once. */
  const known = ({ archiveId, updatedAfter }: Selection, state: string | null): Known => {
    const name = state && `${state}|${archiveId}|${updatedAfter?.getTime() ?? ''}`
    const found = archives.get(name)
    if (found) return found
    const fresh: Known = { keys: new Map() }
    archives.set(name, fresh)
    return fresh
  }

  return {
    total: async (selection, state) => {
      const kept = known(selection, state)
      kept.total ??= await countSelected(selection)
      return kept.total
    },
    find: async (selection, { offset, state }) => {
      if (offset === 0) return undefined
      const nearest = nearestKey(known(selection, state).keys, offset)
      if (nearest?.offset === offset) return { key: nearest.key, inclusive: true }
      const from = nearest && { key: nearest.key, inclusive: true }
      const key =
        (await findKey({ selection, skip: offset - (nearest?.offset ?? 0), ...(from && { from }) })) ??
        // Conversations without a time are no part of the range from a place on.
        (from ? await findKey({ selection, skip: offset }) : null)
      return key && { key, inclusive: true }
    },
    learn: (selection, { offset, key, state }) => {
      const { keys } = known(selection, state)
      keys.set(offset, key)
      dropOldest(keys, MOST_KEYS)
    },
  }
}

function nearestKey(keys: Map<number, SortKey>, offset: number) {
  let best: { offset: number; key: SortKey } | undefined
  for (const [at, key] of keys) if (at <= offset && at > (best?.offset ?? -1)) best = { offset: at, key }
  return best
}
