import { AsyncLocalStorage } from 'node:async_hooks'
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

/** A claim whose answer is lost waits until it runs out, which takes longer than a test should. */
const isClaim = (update: unknown): boolean => JSON.stringify(update ?? null).includes('"claimedBy":"')

type Write = (this: { collectionName: string }, ...args: unknown[]) => Promise<unknown>

interface Fault {
  /** So many writes pass before one fails. */
  skip: number
  /** The write is made all the same. */
  answerLost: boolean
  /** Which writes are meant; all of them where absent. */
  strikes?: (collection: string, args: unknown[]) => boolean
}

/** Stands for the death of whatever makes a write to the database, before the write or after it, when the answer is lost. */
export interface FaultyWrites {
  arm(fault: Fault): { struck(): boolean }
  /** What is called in here is spared: the test's own writes. */
  spare<T>(work: () => T): T
  restore(): void
}

export function faultyWrites(): FaultyWrites {
  const spared = new AsyncLocalStorage<true>()
  const faults: Fault[] = []
  const prototype = mongoose.mongo.Collection.prototype as unknown as Record<string, Write>
  const originals = new Map<string, Write>()
  for (const name of WRITES) {
    const original = prototype[name]
    if (!original) continue
    originals.set(name, original)
    prototype[name] = async function (...args) {
      const isSpared = faults.length === 0 || spared.getStore() || isClaim(args[1])
      const fault = isSpared ? undefined : faults.find(({ strikes }) => strikes?.(this.collectionName, args) ?? true)
      if (!fault || fault.skip-- > 0) return original.apply(this, args)
      faults.splice(faults.indexOf(fault), 1)
      if (fault.answerLost) await original.apply(this, args)
      throw new Error('injected: a write failed')
    }
  }
  return {
    arm: (fault) => {
      const armed = { ...fault }
      faults.push(armed)
      return { struck: () => !faults.includes(armed) }
    },
    spare: (work) => spared.run(true, work),
    restore: () => {
      for (const [name, original] of originals) prototype[name] = original
    },
  }
}
