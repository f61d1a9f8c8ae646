import { type Held, heldBy } from '../../schemas/claims.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { ClaimLost } from '../../schemas/held-claims.ts'

type Update = Record<string, unknown>

/** A write of the one who holds the connection; throws `ClaimLost` when someone else holds it by now. */
export async function writeHeld(claim: Held, update: Update): Promise<Connection> {
  const connection = await Connections.findOneAndUpdate(heldBy(claim), update, {
    returnDocument: 'after',
  }).lean<Connection>()
  if (!connection) throw new ClaimLost('the connection is held by another actor')
  return connection
}

/**
 * The part of an update that gives a claim back: due again at `claimableAt`, or never by itself when it is null.
 * Merge its `$set` and `$unset` into the update that ends the work.
 */
export const releaseAt = (claimableAt: Date | null): { $set: Update; $unset: Update } => ({
  $set: claimableAt ? { claimableAt } : {},
  $unset: { claimedBy: 1, yieldRequestedAt: 1, ...(claimableAt ? {} : { claimableAt: 1 }) },
})
