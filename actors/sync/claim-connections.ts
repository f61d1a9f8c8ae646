import { claimMany } from '../../schemas/claims.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { dueBy } from '../../schemas/database.ts'
import type { ActorRuntime } from '../runtime.ts'
import type { Supervisor } from '../supervision.ts'
import type { Slots } from './slots.ts'
import { whenDue } from './when-due.ts'

/** Claimed in one go; more are claimed at the next turn. */
const CLAIMS_AT_ONCE = 50
/** Syncs that one process runs at a time: each holds a page of conversations in memory. */
export const SYNCS_AT_ONCE = 200

/** Goes before whatever else is due: the first sync begins within a minute (docs/behaviour.md, Sync cadence). */
const NEVER_SYNCED = { lastSyncAt: null }

/** Claims connections that are due and has them synced; returns how many. Where all slots are taken it asks for those that it needs. */
export async function claimConnections({
  runtime,
  connections,
  slots,
  syncsAtOnce,
}: {
  runtime: ActorRuntime
  connections: Supervisor
  slots: Slots
  syncsAtOnce: number
}): Promise<number> {
  const now = runtime.clock.now()
  const limit = Math.min(CLAIMS_AT_ONCE, syncsAtOnce - connections.size())
  if (limit <= 0) {
    const due = { ...NEVER_SYNCED, claimableAt: dueBy(now) }
    slots.want(await Connections.countDocuments(due).limit(CLAIMS_AT_ONCE))
    return 0
  }
  slots.want(0)
  const claimed = await claimMany<Connection>(Connections, { now, filter: NEVER_SYNCED, limit })
  if (claimed.length < limit)
    claimed.push(...(await claimMany<Connection>(Connections, { now, limit: limit - claimed.length })))
  for (const connection of claimed) {
    const slot = slots.take()
    void connections
      .tell(connection._id, 'sync', (signal) => whenDue({ connection, runtime, signal, slot }))
      .catch((error: unknown) => runtime.log.error({ err: error, connectionId: connection._id }, 'an actor crashed'))
      .finally(slot.leave)
  }
  return claimed.length
}
