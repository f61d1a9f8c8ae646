import type { Dispatcher } from 'undici'
import { type Clock, DAY, MINUTE, SECOND } from '../core/clock.ts'
import { cookieHeader } from './cookie.ts'
import { ProviderRateLimitedError, ProviderUnavailableError } from './errors.ts'
import type { ProviderProfile } from './profile.ts'
import { type ProviderAnswer, request } from './request.ts'
import { createSharedLock } from './shared-lock.ts'

const MIB = 1024 * 1024

/** Limits of each kind of call: the time is machine time for the whole answer. */
const CALLS = {
  session: { what: 'session call', timeoutMs: 30 * SECOND, maxBytes: MIB },
  list: { what: 'list call', timeoutMs: 30 * SECOND, maxBytes: 16 * MIB },
  conversation: { what: 'conversation call', timeoutMs: MINUTE, maxBytes: 64 * MIB },
  file: { what: 'file call', timeoutMs: 30 * SECOND, maxBytes: MIB },
} as const

/** Service waits before a refused request is repeated; after the last one the refusal stands. */
const BACK_OFF_MS = [2 * SECOND, 8 * SECOND, 30 * SECOND]
/** What a provider asks for beyond this is a mistake of its clock. */
const LONGEST_RETRY_AFTER_MS = 7 * DAY

/** A request that is under way when the caller has to end: its answer may bring a new cookie, without which the session is lost. */
const GRACE_MS = 5 * SECOND

type CallKind = keyof typeof CALLS

interface Call {
  kind: CallKind
  url: string
  accessToken?: string
}

interface CallerOptions {
  profile: Pick<ProviderProfile, 'cookieName'>
  clock: Clock
  /** The newest session cookie. */
  cookie: () => string
  /** Whether the provider rotates the cookie: then calls go one at a time, each with the newest. */
  rotates: () => boolean
  /** Sees every answer, a refusal too, before it is judged. */
  onAnswer: (answer: ProviderAnswer) => Promise<void>
  pace?: () => Promise<void>
  signal?: AbortSignal
  timeoutMs?: number
  dispatcher?: Dispatcher
}

/**
 * Makes the function that calls a provider with the account's cookie. It repeats what fails for now (5xx, 403, time
 * limits, the network) with back-off and then throws `ProviderUnavailableError`; a 429 is thrown at once as
 * `ProviderRateLimitedError`. Any other answer is returned, whatever its status.
 *
 * Calls run side by side, but a session call runs alone: asked with a cookie that an answer on its way has just replaced, it
 * would say that the session has ended.
 */
export function createCaller(options: CallerOptions): (call: Call) => Promise<ProviderAnswer> {
  const { profile, clock, cookie, rotates, onAnswer, pace, signal, dispatcher } = options
  const runLocked = createSharedLock()

  /** The rate's turn comes last: it must not wait, used up, for a call that runs alone. */
  function once(call: Call): Promise<ProviderAnswer> {
    const paced = async (): Promise<ProviderAnswer> => {
      await pace?.()
      return send(call)
    }
    return runLocked(paced, { exclusive: () => call.kind === 'session' || rotates() })
  }

  async function send({ kind, url, accessToken }: Call): Promise<ProviderAnswer> {
    const { what, maxBytes } = CALLS[kind]
    const timeoutMs = options.timeoutMs ?? CALLS[kind].timeoutMs
    const headers = {
      accept: 'application/json',
      cookie: cookieHeader({ name: profile.cookieName, value: cookie() }),
      ...(accessToken !== undefined && { authorization: `Bearer ${accessToken}` }),
    }
    const answer = await request({
      what,
      url,
      headers,
      timeoutMs,
      maxBytes,
      clock,
      signal,
      graceMs: GRACE_MS,
      dispatcher,
    })
    try {
      await onAnswer(answer)
      signal?.throwIfAborted()
      throwIfRefused(answer, { what, now: clock.now() })
      return answer
    } catch (error) {
      answer.release()
      throw error
    }
  }

  return async (call) => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await once(call)
      } catch (error) {
        const wait = BACK_OFF_MS[attempt]
        if (!(error instanceof ProviderUnavailableError) || wait === undefined) throw error
        await clock.sleep(clock.scaled(wait), signal)
      }
    }
  }
}

/** Throws for the statuses that say "not now" on any call. */
export function throwIfRefused(
  { status, headers }: Pick<ProviderAnswer, 'status' | 'headers'>,
  { what, now }: { what: string; now: Date },
): void {
  if (status === 429) {
    const retryAfterMs = parseRetryAfter(headers.get('retry-after'), now)
    throw new ProviderRateLimitedError(`The provider rate-limited the ${what}`, { retryAfterMs })
  }
  if (status === 403 || status === 408 || status >= 500) {
    throw new ProviderUnavailableError(`The provider's ${what} failed: status ${status}`)
  }
}

/** RFC 9110, 10.2.3: seconds or an HTTP date. Null for none and for what is neither. In ms, at least 0, at most a week. */
export function parseRetryAfter(value: string | null, now: Date): number | null {
  if (value === null) return null
  const text = value.trim()
  const ms = /^\d+$/.test(text)
    ? Number(text) * SECOND
    : /[a-z]/i.test(text)
      ? Date.parse(text) - now.getTime()
      : Number.NaN
  return Number.isNaN(ms) ? null : Math.min(Math.max(ms, 0), LONGEST_RETRY_AFTER_MS)
}
