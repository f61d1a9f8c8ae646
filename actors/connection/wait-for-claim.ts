import type { Model } from 'mongoose'
import { type Claimable, claimIdle, type Held, heldBy, requestYield } from '../../schemas/claims.ts'
import { trusted } from '../../schemas/database.ts'
import { ClaimLost } from '../../schemas/held-claims.ts'
import type { ActorRuntime } from '../runtime.ts'

/** How often a waiting actor tries again (machine ms). */
const TRY_EVERY_MS = 50

/** A document that this actor holds, renewed until `release`; `signal` is aborted when the claim is lost; who waits for it, waits. */
export interface Holding<T> {
  document: T & Held
  signal: AbortSignal
  /** Gives it back as it was, due when it was due before; harmless where a write of the work's own has given it back already. */
  release(): Promise<void>
}

/**
 * Waits until nobody holds the document, asking its holder to end, and claims it. Null when there is none of that id.
 * Throws the signal's reason when it is aborted meanwhile.
 */
export async function waitForClaim<T extends Claimable & { _id: string }>({
  model,
  id,
  runtime: { clock, held },
  signal,
}: {
  model: Model<T>
  id: string
  runtime: ActorRuntime
  signal: AbortSignal
}): Promise<Holding<T> | null> {
  for (;;) {
    const before = await claimIdle(model, { id, now: clock.now() })
    if (before) {
      const lost = new AbortController()
      const claim = { _id: id, fence: before.heldFence }
      const stopRenewing = held.hold(model, claim, (reason) => {
        if (reason instanceof ClaimLost) lost.abort(reason)
      })
      return {
        document: { ...before, fence: before.heldFence },
        signal: lost.signal,
        release: async () => {
          stopRenewing()
          await model.updateOne({ ...heldBy(claim), claimedBy: trusted({ $exists: true }) }, backTo(before))
        },
      }
    }
    if (!(await model.exists({ _id: id }))) return null
    await requestYield(model, { id, now: clock.now() })
    await clock.sleep(TRY_EVERY_MS, signal)
  }
}

const backTo = ({ claimableAt, claimedBy }: Claimable) => {
  // A claim that had run out was somebody's unfinished work: it is due at once.
  const due = claimedBy === undefined ? claimableAt : new Date(0)
  return due
    ? { $set: { claimableAt: due }, $unset: { claimedBy: 1, yieldRequestedAt: 1 } }
    : { $unset: { claimableAt: 1, claimedBy: 1, yieldRequestedAt: 1 } }
}
