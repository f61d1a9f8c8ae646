/** Memory of this process that some kind of work may take, all of it together. */
export interface ByteBudget {
  /** For one piece of work, which takes nothing yet. */
  open(): ByteShare
  /** What is taken of it now. */
  taken(): number
}

/** What one piece of work has of a budget. */
export interface ByteShare {
  /** Waits until it may have so many bytes in all. Pieces wait in the order in which they were opened. */
  reach(bytes: number): Promise<void>
  /** Gives it all back; whatever waits for it waits for ever. Does nothing the second time. */
  close(): void
}

/**
 * Shares grow as their work goes on, so several may hold some and want more: the one that was opened first gets what it asks for, whatever
 * is left. So one always ends, and no more than `total` and what the largest piece takes is ever taken.
 */
export function createByteBudget(total: number): ByteBudget {
  let taken = 0
  /** In the order of opening. */
  const shares = new Map<ByteShare, { held: number; wanted: number; begin: () => void }>()
  const admit = (): void => {
    let first = true
    for (const share of shares.values()) {
      const more = share.wanted - share.held
      if (more > 0) {
        if (!first && taken + more > total) return
        taken += more
        share.held = share.wanted
        share.begin()
      }
      first = false
    }
  }
  return {
    taken: () => taken,
    open: () => {
      const state = { held: 0, wanted: 0, begin: (): void => undefined }
      const share: ByteShare = {
        reach: async (bytes) => {
          if (bytes <= state.held) return
          await new Promise<void>((begin) => {
            Object.assign(state, { wanted: bytes, begin })
            admit()
          })
        },
        close: () => {
          if (!shares.delete(share)) return
          taken -= state.held
          admit()
        },
      }
      shares.set(share, state)
      return share
    },
  }
}
