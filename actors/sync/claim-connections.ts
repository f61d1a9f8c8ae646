import { SECOND } from '../../core/clock.ts'
import { numbersOf } from '../../core/numbers.ts'
import { claimMany } from '../../schemas/claims.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { dueBy, trusted } from '../../schemas/database.ts'
import { releaseAt, writeHeld } from '../connection/claimed.ts'
import { holdInMailbox } from '../mailbox-claim.ts'
import type { ActorRuntime } from '../runtime.ts'
import type { Supervisor } from '../supervision.ts'
import { createWorkLimits } from '../work-limits.ts'
import { YIELD_WAIT_MS } from './outcome.ts'
import { createSlots } from './slots.ts'
import { countSyncCrash, whenDue } from './when-due.ts'

/** Claimed in one go; more are claimed at the next turn. */
const CLAIMS_AT_ONCE = 50
/** Syncs that one process runs at a time: each holds a page of conversations in memory. */
export const SYNCS_AT_ONCE = 200

/** Goes before whatever else is due: docs/behaviour.md, Sync cadence, has the first sync begin within a minute. */
const FIRST_SYNC: Record<string, unknown> = { awaitsFirstSync: trusted({ $eq: true, $exists: true }) }

/**
 * Returns what claims connections that are due and has them synced, and says how many. Where all slots are taken it asks for those that
 * first syncs need.
 */
export function connectionClaims({
  runtime,
  connections,
  syncsAtOnce,
}: {
  runtime: ActorRuntime
  connections: Supervisor
  syncsAtOnce: number
}): () => Promise<number> {
  const { clock, held, log, metrics } = runtime
  const { claimLateness: lateness } = numbersOf(metrics)
  const slots = createSlots()
  const limits = createWorkLimits({ sync: syncsAtOnce })

  const begin = (connection: Connection): void => {
    const leave = limits.take('sync', connection.appId)
    const slot = slots.take()
    const giveBack = async (): Promise<void> => {
      await writeHeld(connection, releaseAt(new Date(clock.now().getTime() + YIELD_WAIT_MS)))
    }
    const takeOver = holdInMailbox({ held, model: Connections, claim: connection, giveBack })
    void connections
      .tell(
        connection._id,
        'sync',
        async (signal) => {
          if (takeOver()) await whenDue({ connection, runtime, signal, slot })
        },
        connection.crashes,
      )
      .catch((error: unknown) => log.error({ err: error, connectionId: connection._id }, 'an actor crashed'))
      .finally(() => {
        slot.leave()
        leave()
        // Counted anew at the next look: until then no other gives its slot up for the one that this makes room for.
        slots.want(0)
      })
  }

  return async () => {
    const now = clock.now()
    const limit = Math.min(CLAIMS_AT_ONCE, limits.free('sync'))
    if (limit === 0) {
      const due = { ...FIRST_SYNC, claimableAt: dueBy(now) }
      slots.want(await Connections.countDocuments(due).limit(CLAIMS_AT_ONCE))
      return 0
    }
    slots.want(0)
    const claimed = await claimMany<Connection>(Connections, { now, filter: FIRST_SYNC, limit })
    if (claimed.length < limit)
      claimed.push(...(await claimMany<Connection>(Connections, { now, limit: limit - claimed.length })))
    for (const connection of claimed) {
      lateness.observe({ queue: 'connections' }, (now.getTime() - connection.dueAt.getTime()) / SECOND)
      // Back in line, with what became of it: after the first time due at once.
      if (connection.lapsed) await countSyncCrash({ connection, crash: 'lapsed', runtime })
      else begin(connection)
    }
    return claimed.length
  }
}
