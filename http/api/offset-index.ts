import type { Clock } from '../../core/clock.ts'
import {
  countSelected,
  findKey,
  type Position,
  type Selection,
  type SortKey,
} from '../../schemas/archive/conversation-order.ts'
import { createVersionCache, dropOldest } from './archive-version.ts'

/** What was learned of one archive's order, so that reading on by offset does not walk all that was read before. */
interface Known {
  total?: number
  /** Keys of conversations by how many others are before them. */
  keys: Map<number, SortKey>
}

/** Where the conversations of an archive lie by offset; `version` is that of archive-version.ts, and nothing is learned without one. */
export interface OffsetIndex {
  total(selection: Selection, version: string | null): Promise<number>
  /** The position that `offset` conversations are before; null beyond the end, undefined for the beginning. */
  find(selection: Selection, options: { offset: number; version: string | null }): Promise<Position | null | undefined>
  learn(selection: Selection, options: { offset: number; key: SortKey; version: string | null }): void
}

const MOST_ARCHIVES = 1_000
const MOST_KEYS = 256

export function createOffsetIndex({ clock }: { clock: Clock }): OffsetIndex {
  const archives = createVersionCache<Known>({ clock, most: MOST_ARCHIVES })

  /** Without a version it is forgotten at once. */
  const known = ({ archiveId, updatedAfter }: Selection, version: string | null): Known => {
    const name = version && `${version}|${archiveId}|${updatedAfter?.getTime() ?? ''}`
    const found = archives.get(name)
    if (found) return found
    const fresh: Known = { keys: new Map() }
    archives.set(name, fresh)
    return fresh
  }

  return {
    total: async (selection, version) => {
      const found = known(selection, version)
      found.total ??= await countSelected(selection)
      return found.total
    },
    find: async (selection, { offset, version }) => {
      if (offset === 0) return undefined
      const nearest = nearestKey(known(selection, version).keys, offset)
      if (nearest?.offset === offset) return { key: nearest.key, inclusive: true }
      const from = nearest && { key: nearest.key, inclusive: true }
      const key =
        (await findKey({ selection, skip: offset - (nearest?.offset ?? 0), ...(from && { from }) })) ??
        // Conversations without a time are no part of the range from a position on.
        (from ? await findKey({ selection, skip: offset }) : null)
      return key && { key, inclusive: true }
    },
    learn: (selection, { offset, key, version }) => {
      const { keys } = known(selection, version)
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
