import { claimMany } from '../../schemas/claims.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { dueBy, trusted } from '../../schemas/database.ts'
import { releaseAt, writeHeld } from '../connection/claimed.ts'
import { holdInMailbox } from '../mailbox-claim.ts'
import type { ActorRuntime } from '../runtime.ts'
import type { Supervisor } from '../supervision.ts'
import { takeUp } from '../take-up.ts'
import { createWorkLimits } from '../work-limits.ts'
import { YIELD_WAIT_MS } from './outcome.ts'
import { createSlots } from './slots.ts'
import { countSyncCrash, whenDue } from './when-due.ts'

/** Claimed in one go; more are claimed at the next turn. */
const CLAIMS_AT_ONCE = 50
/** Syncs that one process runs at a time: each holds a page of conversations in memory. */
export const SYNCS_AT_ONCE = 200

type Filter = Record<string, unknown>

/** Goes before whatever else is due: docs/behaviour.md, Sync cadence, has the first sync begin within a minute. */
const FIRST_SYNC: Filter = { awaitsFirstSync: trusted({ $eq: true, $exists: true }) }

/**
 * Returns what claims connections that are due and has them synced, and says how many. An app has its share of the slots (`createWorkLimits`).
 * What must not wait for a long sync's end, an app's first syncs and apps without any slot, gets one that such a sync gives up.
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
  const { clock, held, log } = runtime
  const slots = createSlots()
  const limits = createWorkLimits({ sync: syncsAtOnce })

  const begin = (connection: Connection): void => {
    const leave = limits.take('sync', connection.appId)
    const slot = slots.take(connection.appId)
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
        slots.want(new Map())
      })
  }

  /** Claims those that are due, and begins them; returns how many. */
  const beginDue = async (filter: Filter, limit: number): Promise<number> => {
    if (limit === 0) return 0
    const now = clock.now()
    const claimed = await claimMany<Connection>(Connections, { now, filter, limit })
    await takeUp(claimed, {
      queue: 'connections',
      now,
      runtime,
      begin,
      countCrash: (connection) => countSyncCrash({ connection, crash: 'lapsed', runtime }),
    })
    return claimed.length
  }

  /** The slots that are to be given up: an app's own for its first syncs, and of the app that has most for those that have none. */
  const wantedOf = async (crowding: string[]): Promise<Map<string, number>> => {
    const [largest] = crowding
    if (largest === undefined) return new Map()
    const due = { claimableAt: dueBy(clock.now()) }
    const first = { ...FIRST_SYNC, ...due, appId: trusted({ $in: crowding }) }
    const firsts = await Connections.find(first).select({ appId: 1 }).limit(CLAIMS_AT_ONCE).lean<Connection[]>()
    const wanted = new Map<string, number>()
    for (const { appId } of firsts) wanted.set(appId, (wanted.get(appId) ?? 0) + 1)
    if (limits.free('sync') > 0) return wanted
    const others = { ...due, appId: trusted({ $nin: crowding }) }
    const waiting = await Connections.countDocuments(others).limit(CLAIMS_AT_ONCE)
    return wanted.set(largest, (wanted.get(largest) ?? 0) + waiting)
  }

  return async () => {
    // Looked at once for both: a slot that is given up meanwhile is for a first sync.
    const room = Math.min(CLAIMS_AT_ONCE, limits.room('sync'))
    const crowding = limits.crowding('sync')
    const others = crowding.length > 0 ? { appId: trusted({ $nin: crowding }) } : {}
    let begun = await beginDue({ ...FIRST_SYNC, ...others }, room)
    begun += await beginDue(others, room - begun)
    for (const [appId, count] of slots.takeGivenUp())
      begun += await beginDue({ ...FIRST_SYNC, appId }, Math.min(count, limits.free('sync')))
    slots.want(await wantedOf(limits.crowding('sync')))
    return begun
  }
}
