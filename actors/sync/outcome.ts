import {
  ProviderContractError,
  ProviderRateLimitedError,
  ProviderUnavailableError,
  SessionEndedError,
} from '../../provider/errors.ts'
import { ClaimLost, YieldRequested } from '../../schemas/held-claims.ts'
import { ReadingHalted } from './account-client.ts'
import type { Outcome } from './cadence.ts'

/** Who waits for the connection gets it before the next sync does (machine time). */
export const YIELD_WAIT_MS = 5_000

/** Turns what the provider did into how the sync ended; anything unexpected is thrown on and counts as a crash. */
export async function outcomeOf({
  signal,
  read,
  isSpent,
}: {
  signal: AbortSignal
  /** Returns false when there is more to read. */
  read: () => Promise<boolean>
  /** The time of this sync is over. */
  isSpent: () => boolean
}): Promise<Outcome> {
  try {
    if (await read()) return { kind: 'complete' }
    return isSpent() ? { kind: 'more' } : interrupted(signal)
  } catch (thrown) {
    const error: unknown = thrown instanceof ReadingHalted ? thrown.cause : thrown
    const aborted: unknown = signal.aborted ? signal.reason : undefined
    if (aborted instanceof ClaimLost || error instanceof ClaimLost) throw aborted instanceof ClaimLost ? aborted : error
    if (signal.aborted) return interrupted(signal)
    if (error instanceof SessionEndedError) return { kind: 'session-ended', reason: error.message }
    if (error instanceof ProviderRateLimitedError) return { kind: 'rate-limited', retryAfterMs: error.retryAfterMs }
    if (error instanceof ProviderUnavailableError || error instanceof ProviderContractError)
      return { kind: 'unavailable', reason: error.message }
    throw error
  }
}

const interrupted = ({ reason }: AbortSignal): Outcome => ({
  kind: 'interrupted',
  resumeInMs: reason instanceof YieldRequested ? YIELD_WAIT_MS : 0,
})
