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
  stop(): Promise<void>
}

interface Entry extends Held {
  onEnd: (reason: Error) => void
  renewedAt: number
}

/** One renewal timer for everything that this process holds (docs/architecture.md, idea 2). */
export function createHeldClaims({ clock, log }: { clock: Clock; log: Logger }): HeldClaims {
  const held = new Map<Model<never>, Set<Entry>>()
  let stopped = false

  const renew = async (model: Model<never>, entries: Set<Entry>): Promise<void> => {
    const present = [...entries]
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
      log.warn({ err: error }, 'claims were not renewed')
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
      [...held].map(([model, entries]) => (entries.size > 0 ? renew(model, entries) : undefined)),
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
    stop: async () => {
      stopped = true
      timer.cancel()
      await renewing
    },
  }
}
