import type { Model } from 'mongoose'
import type { ActorRuntime } from '../../../../actors/runtime.ts'
import { startPoller } from '../../../../core/poller.ts'
import { CLAIM_MS, type Claimable, RENEW_MS } from '../../../../schemas/claims.ts'
import { Commands } from '../../../../schemas/command/command.ts'
import { Accounts } from '../../../../schemas/connection/account.ts'
import { Connections } from '../../../../schemas/connection/connection.ts'
import { trusted } from '../../../../schemas/database.ts'

const CLAIMED = [Accounts, Commands, Connections] as unknown as Model<Claimable>[]
const LOOK_EVERY_MS = 1_000
/** So many renewals were missed: whoever held it died of a fault. */
const UNRENEWED_MS = 3 * RENEW_MS

/** Lets claims that nobody renews any more run out sooner than they would, so that no history waits for the whole of their time. */
export const endLapsedClaims = ({ clock, log }: ActorRuntime): { stop(): Promise<void> } =>
  startPoller({
    name: 'lapsed claims',
    everyMs: LOOK_EVERY_MS,
    clock,
    log,
    work: async () => {
      const now = clock.now()
      const lapsed = trusted({ $gt: now, $lt: new Date(now.getTime() + CLAIM_MS - UNRENEWED_MS) })
      const held = { claimedBy: trusted({ $exists: true }), claimableAt: lapsed }
      await Promise.all(CLAIMED.map((model) => model.updateMany(held, { $set: { claimableAt: now } })))
      return 0
    },
  })
