import type { Model } from 'mongoose'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/log.ts'
import { CLAIM_MS, type Claimable, type Held, RENEW_MS, renewClaims } from './claims.ts'

/** Another process took over: whatever this holder still writes must not count. */
export class ClaimLost extends Error {
  override name = 'ClaimLost'
}

/** Someone waits for this claim (a fold): end soon, in good order. */
export class YieldRequested extends Error {
  override name = 'YieldRequested'
}

export interface HeldClaims {
  /** Keeps a claim renewed until the returned function is called; `onEnd` hears of its loss or of a request to yield. */
  hold<T extends Claimable & { _id: string }>(model: Model<T>, claim: Held, onEnd: (reason: Error) => void): () => void
  /** How many renewals of a claim have failed so far, for operators: each is tried again until the claim has run out. */
  failedRenewals(): number
  stop(): Promise<void>
}

/** Renewed in one go: a connection to the database that falls silent delays these, and no others. */
const RENEWED_AT_ONCE = 100

interface Entry extends Held {
  onEnd: (reason: Error) => void
  renewedAt: number
}

/** One renewal timer for everything that this process holds (docs/architecture.md, idea 2). */
export function createHeldClaims({ clock, log }: { clock: Clock; log: Logger }): HeldClaims {
  const held = new Map<Model<never>, Set<Entry>>()
  let stopped = false
  let failed = 0

  const renew = async (model: Model<never>, entries: Set<Entry>, present: Entry[]): Promise<void> => {
    const began = clock.elapsed()
    try {
      const { renewed, yielding } = await renewClaims(model as unknown as Model<Claimable & { _id: string }>, {
        held: present,
        now: clock.now(),
      })
      for (const entry of present) {
        if (!entries.has(entry)) continue
        if (!renewed.has(entry._id)) end(entries, entry, new ClaimLost('the claim is held by another process'))
        else if (yielding.has(entry._id))
          end(entries, entry, new YieldRequested('another actor waits for this claim'), true)
        else entry.renewedAt = began
      }
    } catch (error) {
      failed += present.length
      log.warn({ err: error, claims: present.length }, 'claims were not renewed')
      for (const entry of present)
        if (clock.elapsed() - entry.renewedAt > CLAIM_MS)
          end(entries, entry, new ClaimLost('the claim could not be renewed'))
    }
  }

  const end = (entries: Set<Entry>, entry: Entry, reason: Error, keepRenewing = false): void => {
    if (!keepRenewing) entries.delete(entry)
    entry.onEnd(reason)
  }

  let renewing: Promise<unknown> = Promise.resolve()
  const beat = (): void => {
    renewing = Promise.all(
      [...held].flatMap(([model, entries]) => batchesOf(entries).map((batch) => renew(model, entries, batch))),
    ).then(() => {
      if (!stopped) timer = clock.timer(RENEW_MS, beat)
    })
  }
  let timer = clock.timer(RENEW_MS, beat)

  return {
    hold: (model, claim, onEnd) => {
      const key = model as unknown as Model<never>
      const entries = held.get(key) ?? new Set()
      held.set(key, entries)
      const entry = { _id: claim._id, fence: claim.fence, onEnd, renewedAt: clock.elapsed() }
      entries.add(entry)
      return () => entries.delete(entry)
    },
    failedRenewals: () => failed,
    stop: async () => {
      stopped = true
      timer.cancel()
      await renewing
    },
  }
}

function batchesOf(entries: Set<Entry>): Entry[][] {
  const all = [...entries]
  return Array.from({ length: Math.ceil(all.length / RENEWED_AT_ONCE) }, (_, index) =>
    all.slice(index * RENEWED_AT_ONCE, (index + 1) * RENEWED_AT_ONCE),
  )
}
