import { type Clock, SECOND } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import type { DailyCounter } from '../../schemas/app/daily-count.ts'
import { answeredWithin } from '../../schemas/database.ts'
import { type Settlement, settleDeliveries } from '../../schemas/delivery/delivery-claims.ts'

/** Results written in one go at most. */
const RESULTS_AT_ONCE = 500
const RETRY_MS = SECOND
/**
 * A write that is not answered by then (machine ms) is made again, on another connection; where it was done, that changes nothing. Each
 * is waited for longer, should the database be slow. Even of an
 * attempt that took its whole time the claim holds until then: once it has run out, what succeeded would count as interrupted and be sent anew.
 */
const WRITE_LIMIT_MS = 3 * SECOND
/** The first result of a batch waits this long for others (machine ms): nobody waits for it but its actor. */
const GATHER_MS = 5

interface Results {
  /** Resolves when the result is on disk; rejects only when the process stops before that. */
  record(settlement: Settlement): Promise<void>
  /** From now on a write that fails is given up: the claim runs out, and the attempt counts as interrupted. */
  giveUp(): void
}

interface Waiting {
  settlement: Settlement
  resolve: () => void
  reject: (error: unknown) => void
}

/** Writes results in batches: whatever ended while the previous batch was gathered or written goes out as the next one. */
export function createResults({ clock, log, daily }: { clock: Clock; log: Logger; daily: DailyCounter }): Results {
  let waiting: Waiting[] = []
  let writing = false
  const stopping = new AbortController()

  const write = async (batch: Waiting[]): Promise<void> => {
    for (let tries = 1; ; tries++) {
      try {
        const settlements = batch.map(({ settlement }) => settlement)
        await answeredWithin(tries * WRITE_LIMIT_MS, settleDeliveries(settlements, clock.now()))
        for (const { settlement, resolve } of batch) {
          daily.add(settlement.appId, settlement.result.error === undefined ? 'delivered' : 'failed')
          resolve()
        }
        return
      } catch (error) {
        log.warn({ err: error, results: batch.length }, 'results of deliveries were not recorded')
        if (stopping.signal.aborted) {
          for (const { reject } of batch) reject(error)
          return
        }
        await clock.sleep(RETRY_MS, stopping.signal).catch(() => undefined)
      }
    }
  }

  const writeAll = async (): Promise<void> => {
    writing = true
    await clock.sleep(GATHER_MS)
    while (waiting.length > 0) {
      const batch = waiting.slice(0, RESULTS_AT_ONCE)
      waiting = waiting.slice(RESULTS_AT_ONCE)
      await write(batch)
    }
    writing = false
  }

  return {
    record: (settlement) =>
      new Promise((resolve, reject) => {
        waiting.push({ settlement, resolve, reject })
        if (!writing) void writeAll()
      }),
    giveUp: () => stopping.abort(),
  }
}
