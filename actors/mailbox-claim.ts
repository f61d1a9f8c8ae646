import type { Model } from 'mongoose'
import type { Claimable, Held } from '../schemas/claims.ts'
import { ClaimLost, type HeldClaims } from '../schemas/held-claims.ts'

/**
 * Renews a claim from the moment it was made, while its work waits in an actor's mailbox: else it would run out there and be claimed
 * again. The returned function ends that, for the work to hold the claim itself; it returns false where the claim was lost meanwhile.
 * Whoever waits for the claim may be what the mailbox waits for: then `giveBack` lets go of it, and the work is not begun.
 */
export function holdInMailbox<T extends Claimable & { _id: string }>({
  held,
  model,
  claim,
  giveBack,
}: {
  held: HeldClaims
  model: Model<T>
  claim: Held
  /** Absent where nobody ever waits for a claim of this kind. */
  giveBack?: () => Promise<void>
}): () => boolean {
  let lost = false
  const release = held.hold(model, claim, (reason) => {
    if (lost || !(reason instanceof ClaimLost || giveBack)) return
    lost = true
    release()
    // Where that fails it runs out by itself.
    if (!(reason instanceof ClaimLost)) void giveBack?.().catch(() => undefined)
  })
  return () => {
    release()
    return !lost
  }
}
