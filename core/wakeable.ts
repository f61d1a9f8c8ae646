import type { Clock } from './clock.ts'

/** A reason at hand: one that is made for each call costs more than all the rest of it. */
const WOKEN = new Error('woken')

/** A pause that others may end before its time. */
interface Wakeable {
  /** Ends the pause under way and, until that is forgotten, each that begins. */
  wake(): void
  isWoken(): boolean
  forget(): void
  /** Lasts so long (ms of the clock) at most. Rejects with the reason of the signal. */
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
      const signals = signal ? [woken.signal, signal] : [woken.signal]
      await clock.sleep(ms, AbortSignal.any(signals)).catch(() => signal?.throwIfAborted())
    },
  }
}
