import mongoose from 'mongoose'

const WRITES = [
  'insertOne',
  'insertMany',
  'updateOne',
  'updateMany',
  'replaceOne',
  'findOneAndUpdate',
  'bulkWrite',
  'deleteOne',
  'deleteMany',
] as const

/** A write of this process to the database, as the driver's collection was asked for it. */
export interface Write {
  collection: string
  method: (typeof WRITES)[number]
  args: unknown[]
}

/** Stands between a write and the database: what it does not pass on with `proceed` never comes there. */
type Interceptor = (write: Write, proceed: () => Promise<unknown>) => Promise<unknown>

type Method = (this: { collectionName: string }, ...args: unknown[]) => Promise<unknown>

const interceptors = new Set<Interceptor>()
const prototype = mongoose.mongo.Collection.prototype as unknown as Record<string, Method>
const originals = new Map<string, Method>()

function install(): void {
  for (const method of WRITES) {
    const original = prototype[method]
    if (!original) throw new Error(`the driver has no ${method}`)
    originals.set(method, original)
    prototype[method] = function (...args) {
      const write: Write = { collection: this.collectionName, method, args }
      let proceed = () => original.apply(this, args)
      for (const intercept of interceptors) {
        const next = proceed
        proceed = () => intercept(write, next)
      }
      return proceed()
    }
  }
}

/** From now on every write of this process goes through it, whose ever it is; returns how to end that. */
export function interceptWrites(interceptor: Interceptor): () => void {
  if (interceptors.size === 0) install()
  interceptors.add(interceptor)
  return () => {
    interceptors.delete(interceptor)
    if (interceptors.size === 0) for (const [method, original] of originals) prototype[method] = original
  }
}
