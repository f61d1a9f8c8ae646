import type { MongoClient } from 'mongodb'
import type { Command } from '../../../schemas/command/command.ts'
import type { Connection } from '../../../schemas/connection/connection.ts'
import type { Delivery } from '../../../schemas/delivery/delivery.ts'
import type { Lease } from '../../../schemas/lease/lease.ts'
import { until } from '../../support/until.ts'
import type { ChaosWorld } from './world.ts'

/** All that was begun ends within this time once nothing goes wrong any more: a claim, the longest retry of a delivery, a sweep. */
const SETTLE_MS = 150_000
/** A claim that ran out so long ago was taken up by nobody. */
const STUCK_MS = 40_000
/** The first sweep of a purge comes a minute after it; those of an hour and a day later are not waited for. */
const FIRST_SWEEP_MS = 61_000

export const collections = (client: MongoClient) => {
  const database = client.db()
  return {
    database,
    connections: database.collection<Connection>('connections'),
    commands: database.collection<Command>('commands'),
    deliveries: database.collection<Delivery>('deliveries'),
    leases: database.collection<Lease>('leases'),
  }
}

/**
 * Waits until everything that was begun has ended: each command, flow, claim and delivery, the first sweeps, and a sync of every
 * connection that began after the last fault. Throws what has not.
 */
export async function settle(world: ChaosWorld): Promise<void> {
  const { connections, commands, deliveries, leases, database } = collections(world.client)
  const end = performance.now() + SETTLE_MS
  const settled = (what: string, look: () => Promise<string | null>) => {
    let last: string | null = null
    const isSettled = async (): Promise<boolean> => {
      last = await look().catch(String)
      return last === null
    }
    return until(what, isSettled, { giveUpMs: Math.max(1, end - performance.now()), everyMs: 500 }).catch(() =>
      Promise.reject(new Error(`did not happen: ${what}; left: ${last}`)),
    )
  }
  const none = async (found: Promise<object[]>): Promise<string | null> => {
    const list = await found
    return list.length === 0 ? null : JSON.stringify(list.slice(0, 5))
  }
  const brief = { projection: { outbox: 0, 'args.credential': 0, 'args.key': 0, 'args.profile': 0, body: 0 } }

  await settled('every process to run', async () => {
    const { processDetails } = await world.service.ops<{ processDetails: { kind: string; state: string }[] }>(
      'overview',
    )
    const running = processDetails.filter(({ state }) => state === 'running').map(({ kind }) => kind)
    return running.length === 5 ? null : running.join()
  })
  await settled('every command to end', () =>
    none(
      commands
        .find({ state: 'waiting', claimableAt: { $lte: new Date(Date.now() + FIRST_SWEEP_MS) } } as never, brief)
        .toArray(),
    ),
  )
  await settled('every flow to end', () =>
    none(leases.find({ claimableAt: { $exists: true } } as never, brief).toArray()),
  )
  const since = new Date()
  const synced = new Set<string>()
  await settled('every connection to be synced', async () => {
    const active = await connections
      .find({ status: 'active', $or: [{ lastSyncAt: { $exists: false } }, { lastSyncAt: { $lt: since } }] } as never)
      .project<{ _id: string; claimedBy?: string; quarantinedAt?: Date; sync: unknown }>({
        claimedBy: 1,
        quarantinedAt: 1,
        claimableAt: 1,
        sync: 1,
      })
      .toArray()
    for (const { _id, claimedBy } of active) {
      if (claimedBy || synced.has(_id)) continue
      synced.add(_id)
      await fetch(`${world.service.operator.url}/connections/${_id}/sync`, {
        method: 'POST',
        headers: { authorization: `Bearer ${world.service.operator.key}` },
      }).catch(() => synced.delete(_id))
    }
    return none(Promise.resolve(active))
  })
  await settled('every event to be relayed', async () => {
    for (const name of ['connections', 'commands', 'consumed_links']) {
      const waiting = await database.collection(name).countDocuments({ 'outbox.0': { $exists: true } })
      if (waiting > 0) return `${waiting} ${name}`
    }
    return null
  })
  await settled('every delivery to end', () => none(deliveries.find({ state: 'waiting' }, brief).toArray()))
  await settled('every claim to end', async () => {
    for (const name of ['connections', 'commands', 'accounts', 'leases', 'deliveries']) {
      const stuck = { claimedBy: { $exists: true }, claimableAt: { $lte: new Date(Date.now() - STUCK_MS) } }
      const left = await none(database.collection(name).find(stuck, brief).toArray())
      if (left) return `${name}: ${left}`
    }
    return null
  })
}
