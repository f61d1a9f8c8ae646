import { Accounts } from '../../schemas/connection/account.ts'
import { trusted } from '../../schemas/database.ts'

/**
 * What a stall that is longer than a claim looks like to others: whoever holds an account has lost it. The fence is counted up as by another
 * holder, since the process, which does not stall as a whole, would renew the claim.
 */
export const claimsRunOut = () =>
  Accounts.updateMany(
    { claimedBy: trusted({ $exists: true }) },
    { $set: { claimableAt: new Date(0) }, $inc: { fence: 1 }, $unset: { claimedBy: 1 } },
  )
