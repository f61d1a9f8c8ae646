/** Memory of this process that one kind of work may take, all of it together. */
export interface ByteBudget {
  /**
   * Waits until so much is free, in the order of asking, and takes it; the returned function gives it back. More than there is in all is
   * taken as all of it. Whoever holds some must not ask for more, or two could wait for each other.
   */
  take(bytes: number): Promise<() => void>
}

export function createByteBudget(total: number): ByteBudget {
  let free = total
  const waiting: { bytes: number; begin: () => void }[] = []
  const admit = (): void => {
    for (let next = waiting[0]; next && next.bytes <= free; next = waiting[0]) {
      waiting.shift()
      free -= next.bytes
      next.begin()
    }
  }
  return {
    take: async (asked) => {
      const bytes = Math.min(asked, total)
      await new Promise<void>((begin) => {
        waiting.push({ bytes, begin })
        admit()
      })
      let held = true
      return () => {
        if (held) free += bytes
        held = false
        admit()
      }
    },
  }
}
