import { CcsError } from './errors.ts'

const FIRST_DELAY_MS = 1000
const LONGEST_DELAY_MS = 60_000
/** A longer `Retry-After` than this is the caller's to plan with, not ours to sleep through. */
const LONGEST_RETRY_AFTER_MS = 300_000

/**
 * What a repetition of the call could do: `always` for calls that may be repeated at will, `when-refused` for calls that
 * may be repeated only when the API says that it did not begin them (429), `never` where the body is gone once it was sent.
 */
export type Repeatable = 'always' | 'when-refused' | 'never'

/** `Retry-After` in milliseconds, from seconds or from an HTTP date; undefined when absent or unreadable. */
export function parseRetryAfter(value: string | null, now: number): number | undefined {
  if (value === null) return undefined
  if (/^\s*\d+\s*$/.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

/** 1 s, 2 s, 4 s, … up to a minute; `attempt` counts from 1. */
export function backOff(attempt: number): number {
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1))
}

/** How long to wait before attempt `attempt + 1`, or undefined when the error is final. */
export function retryDelay(error: CcsError, attempt: number, repeatable: Repeatable): number | undefined {
  if (repeatable === 'never') return undefined
  const refused = error.status === 429
  const failed = error.status === 0 || error.status >= 500
  if (!refused && !(failed && repeatable === 'always')) return undefined
  if (error.retryAfterSeconds === undefined) return backOff(attempt)
  const asked = error.retryAfterSeconds * 1000
  return asked <= LONGEST_RETRY_AFTER_MS ? asked : undefined
}

/** Waits; rejects with the signal's reason when it aborts first. */
export function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', stop, { once: true })
  })
}

type RetryOptions = {
  maxAttempts: number
  repeatable: Repeatable
  wait: typeof wait
  signal?: AbortSignal | undefined
}

/** Runs a call until it succeeds, its error is final, or the attempts are used up; then throws the last error. */
export async function withRetries<Result>(call: () => Promise<Result>, options: RetryOptions): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof CcsError) || attempt >= options.maxAttempts) throw error
      const delay = retryDelay(error, attempt, options.repeatable)
      if (delay === undefined) throw error
      await options.wait(delay, options.signal)
    }
  }
}
