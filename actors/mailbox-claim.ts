import type { Model } from 'mongoose'
import type { Claimable, Held } from '../schemas/claims.ts'
import { ClaimLost, type HeldClaims } from '../schemas/held-claims.ts'

/**
 * Renews a claim from the moment it was made, while its work waits in an actor's mailbox: else it would run out there and be claimed
 * again. The returned function ends that, for the work to hold the claim itself; it returns false where the claim was lost meanwhile.
 */
export function holdInMailbox<T extends Claimable & { _id: string }>({
  held,
  model,
  claim,
}: {
  held: HeldClaims
  model: Model<T>
  claim: Held
}): () => boolean {
  let lost = false
  const release = held.hold(model, claim, (reason) => {
    lost ||= reason instanceof ClaimLost
  })
  return () => {
    release()
    return !lost
  }
}
