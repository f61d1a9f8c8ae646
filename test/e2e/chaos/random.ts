import { createHash } from 'node:crypto'

/** Chance that repeats itself: the same seed, the same answers in the same order. */
export interface Random {
  /** A whole number from 0 up to, not including, `end`. */
  below(end: number): number
  pick<T>(list: readonly [T, ...T[]]): T
  shuffled<T>(list: readonly T[]): T[]
  /** Chance of its own for one part, so that what another part asks for changes nothing of it. */
  of(part: string): Random
}

export function randomOf(seed: string): Random {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0)
  // Mulberry32.
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (end: number): number => Math.floor(next() * end)
  return {
    below,
    pick: (list) => list[below(list.length)] ?? list[0],
    shuffled: (list) => {
      const rest = [...list]
      return list.flatMap(() => rest.splice(below(rest.length), 1))
    },
    of: (part) => randomOf(`${seed} ${part}`),
  }
}
