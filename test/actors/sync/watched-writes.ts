import { AsyncLocalStorage } from 'node:async_hooks'
import { interceptWrites, type Write } from '../../support/writes.ts'

const WATCHED = new Set<Write['method']>(['updateOne', 'replaceOne', 'findOneAndUpdate', 'bulkWrite', 'deleteMany'])

type OnWrite = (index: number) => Promise<void> | void

const watching = new AsyncLocalStorage<{ onWrite: OnWrite; writes: number }>()

/** Lets `watched` see every write to the database; returns how to end that. */
export const watchWrites = (): (() => void) =>
  interceptWrites(async ({ method }, proceed) => {
    const watch = WATCHED.has(method) ? watching.getStore() : undefined
    if (watch) await watch.onWrite(watch.writes++)
    return proceed()
  })

/** Does the work, and calls `onWrite` before each of its writes: what that throws ends it like a crash, while it waits the work stalls. */
export const watched = <T>(onWrite: OnWrite, work: () => Promise<T>): Promise<T> =>
  watching.run({ onWrite, writes: 0 }, work)

/** Work that stalls before its write number `at` (from 0) until it is let go. Returns once it stalls, or `ended` before. */
export async function stalledAt(
  at: number,
  work: () => Promise<unknown>,
): Promise<{ ended: boolean; go: () => Promise<void> }> {
  let letGo = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    letGo = resolve
  })
  let reach = (): void => undefined
  const reached = new Promise<boolean>((resolve) => {
    reach = () => resolve(false)
  })
  const working = watched((index) => {
    if (index !== at) return
    reach()
    return gate
  }, work)
  const ended = await Promise.race([reached, working.then(() => true)])
  return {
    ended,
    go: async () => {
      letGo()
      await working
    },
  }
}
