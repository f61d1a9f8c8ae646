import { interceptWrites, type Write } from './writes.ts'

interface Stalled {
  /** True once the write has come. */
  reached(): boolean
  /** Lets it go on to the database. */
  go(): void
}

/** Holds up the next write of this kind as a process that stalls does: it reaches the database when it is let go, not before. */
export function stallNext({
  collection,
  method,
  holds = () => true,
}: Pick<Write, 'collection' | 'method'> & {
  /** Told the write's arguments: whether it is the one. */
  holds?: (args: unknown[]) => boolean
}): Stalled {
  let come = false
  let go: () => void = () => undefined
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  const end = interceptWrites(async (write, proceed) => {
    if (!come && write.collection === collection && write.method === method && holds(write.args)) {
      come = true
      end()
      await gate
    }
    return proceed()
  })
  return { reached: () => come, go }
}
