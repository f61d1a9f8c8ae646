import type { Clock } from './clock.ts'

/** A reason at hand: one that is made for each call costs more than all the rest of it. */
const WOKEN = new Error('woken')

const nothing = (): void => undefined

/** A pause that others may end before its time. */
interface Wakeable {
  /** Ends the pause under way and, until that is forgotten, each that begins. */
  wake(): void
  isWoken(): boolean
  forget(): void
  /** Lasts so long (ms of the clock) at most. Rejects with the reason of the signal, on which it leaves nothing. */
  pause(ms: number, signal?: AbortSignal): Promise<void>
}

export function createWakeable({ clock }: { clock: Pick<Clock, 'sleep'> }): Wakeable {
  let woken = new AbortController()
  return {
    wake: () => woken.abort(WOKEN),
    isWoken: () => woken.signal.aborted,
    forget: () => {
      woken = new AbortController()
    },
    pause: async (ms, signal) => {
      signal?.throwIfAborted()
      const present = woken
      const end = (): void => present.abort(WOKEN)
      // Not `AbortSignal.any`: a signal keeps a trace of each that was made of it, and this one may last as long as its process.
      signal?.addEventListener('abort', end, { once: true })
      await clock.sleep(ms, present.signal).catch(nothing)
      signal?.removeEventListener('abort', end)
      signal?.throwIfAborted()
    },
  }
}
