import mongoose from 'mongoose'

type Write = (this: { collectionName: string }, ...args: unknown[]) => Promise<unknown>

export interface Stalled {
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
}: {
  collection: string
  method: 'insertOne' | 'updateOne' | 'bulkWrite'
  /** Told the write's arguments: whether it is the one. */
  holds?: (args: unknown[]) => boolean
}): Stalled {
  const prototype = mongoose.mongo.Collection.prototype as unknown as Record<typeof method, Write>
  const original = prototype[method]
  let come = false
  let go: () => void = () => undefined
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  prototype[method] = async function (...args) {
    if (this.collectionName === collection && holds(args)) {
      prototype[method] = original
      come = true
      await gate
    }
    return original.apply(this, args)
  }
  return { reached: () => come, go }
}
