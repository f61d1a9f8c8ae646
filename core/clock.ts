/**
 * The only place that reads the time or sets a timer.
 *
 * Two kinds of duration exist. *Service waits* (sync cadence, back-off, webhook retry delays, the connect flow's hour)
 * run faster under `TIME_SCALE` in the sandbox: pass them through `scaled`. *Machine time* (input/output timeouts, leases,
 * heartbeats) never does. Timestamps are always real.
 */
export interface Timer {
  cancel(): void
}

export interface Clock {
  /** The real time. */
  now(): Date
  /** Milliseconds that only move forward, for measuring durations. */
  elapsed(): number
  /** Turns a service wait (ms) into the machine time (ms) that it lasts here. */
  scaled(serviceMs: number): number
  /** The moment at which a service wait (ms) that begins now ends. */
  after(serviceMs: number): Date
  /** Resolves after machine time (ms); rejects with the signal's reason when it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Calls `fn` once after machine time (ms). Does not keep the process alive. */
  timer(ms: number, fn: () => void): Timer
}

export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR

/** setTimeout fires at once for delays beyond 2^31-1 ms; longer waits are cut there and the caller looks again. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

/** A clock on the machine's time; `timeScale` is how many times faster service waits run (docs/behaviour.md, TIME_SCALE). */
export function systemClock({ timeScale = 1 }: { timeScale?: number } = {}): Clock {
  const scaled = (serviceMs: number): number => serviceMs / timeScale
  return {
    now: () => new Date(),
    elapsed: () => performance.now(),
    scaled,
    after: (serviceMs) => new Date(Date.now() + scaled(serviceMs)),
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        const onAbort = () => {
          clearTimeout(timeout)
          reject(signal?.reason)
        }
        const timeout = setTimeout(
          () => {
            signal?.removeEventListener('abort', onAbort)
            resolve()
          },
          Math.min(ms, LONGEST_TIMEOUT_MS),
        )
        signal?.addEventListener('abort', onAbort, { once: true })
      }),
    timer: (ms, fn) => {
      const timeout = setTimeout(fn, Math.min(ms, LONGEST_TIMEOUT_MS))
      // In a visitor's browser a timer is a number, and keeps no process alive.
      if (typeof timeout === 'object') timeout.unref()
      return { cancel: () => clearTimeout(timeout) }
    },
  }
}
