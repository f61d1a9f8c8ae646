import type { Duplex } from 'node:stream'

/**
 * A listener for what strangers send: whatever `handle` throws, at once or later, ends the stranger's socket and is told to `onError`.
 * Without this an exception in an event listener ends the process (docs/security.md, Between visitors, between secrets).
 */
export function guardListener<A extends unknown[]>({
  socketOf,
  onError,
  handle,
}: {
  /** The stranger's socket among what `handle` is called with. */
  socketOf: (args: NoInfer<A>) => Duplex
  onError: (error: unknown) => void
  handle: (...args: A) => void | Promise<void>
}): (...args: A) => void {
  return (...args) => {
    const fail = (error: unknown): void => {
      onError(error)
      socketOf(args).destroy()
    }
    try {
      handle(...args)?.catch(fail)
    } catch (error) {
      fail(error)
    }
  }
}
