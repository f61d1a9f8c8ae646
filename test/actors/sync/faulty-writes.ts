import { AsyncLocalStorage } from 'node:async_hooks'
import { interceptWrites } from '../../support/writes.ts'

/** A claim whose answer is lost waits until it runs out, which takes longer than a test should. */
const isClaim = (update: unknown): boolean => JSON.stringify(update ?? null).includes('"claimedBy":"')

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
  const restore = interceptWrites(async ({ collection, args }, proceed) => {
    const isSpared = faults.length === 0 || spared.getStore() || isClaim(args[1])
    const fault = isSpared ? undefined : faults.find(({ strikes }) => strikes?.(collection, args) ?? true)
    if (!fault || fault.skip-- > 0) return proceed()
    faults.splice(faults.indexOf(fault), 1)
    if (fault.answerLost) await proceed()
    throw new Error('injected: a write failed')
  })
  return {
    arm: (fault) => {
      const armed = { ...fault }
      faults.push(armed)
      return { struck: () => !faults.includes(armed) }
    },
    spare: (work) => spared.run(true, work),
    restore,
  }
}
