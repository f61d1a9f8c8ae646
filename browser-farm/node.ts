import type { WebSocket } from 'ws'
import { SECOND } from '../core/clock.ts'
import { CLAIM_MS, claimMany, RENEW_MS, renewClaims } from '../schemas/claims.ts'
import { trusted } from '../schemas/database.ts'
import { Leases } from '../schemas/lease/lease.ts'
import { LeaseEnd } from './lease-end.ts'
import { type LeaseRun, startLease } from './lease-run.ts'
import { endIdleLeases } from './lease-writes.ts'
import type { FarmRuntime } from './runtime.ts'
import { WORDS } from './words.ts'

/** How often a node with room looks for leases to claim (machine time). */
const LOOK_MS = 200
const SWEEP_MS = 2 * SECOND
/** After an error (the database is away). */
const ERROR_WAIT_MS = SECOND

export interface FarmNode {
  /** Shows a lease to a viewer; false where this node does not hold it. */
  join(leaseId: string, socket: WebSocket): boolean
  /** How many leases it holds. */
  size(): number
  /** Hands everything back. */
  stop(): Promise<void>
}

/** Claims leases while there is room, and runs and renews what it holds. */
export function startNode({
  nodeId,
  nodeUrl,
  runtime,
}: {
  nodeId: string
  nodeUrl: string
  runtime: FarmRuntime
}): FarmNode {
  const { clock, config, log, browser } = runtime
  const runs = new Map<string, LeaseRun>()
  const stopping = new AbortController()

  /** Calls `work` every so often until the node stops; a database that is away is borne. */
  const every = async (ms: number, what: string, work: () => Promise<void>): Promise<void> => {
    while (!stopping.signal.aborted) {
      const wait = await work().then(
        () => ms,
        (error: unknown) => {
          log.warn({ err: error }, `${what} failed`)
          return Math.max(ms, ERROR_WAIT_MS)
        },
      )
      await clock.sleep(wait, stopping.signal).catch(() => undefined)
    }
  }

  const claim = async (): Promise<void> => {
    const room = config.FARM_CAPACITY - runs.size
    if (room <= 0 || !browser.current()) return
    const filter = { releaseRequestedAt: trusted({ $exists: false }) }
    for (const lease of await claimMany(Leases, { now: clock.now(), filter, limit: room })) {
      // Claimed again after this node lost it: the earlier run ends first, and the claim is left to run out.
      if (runs.has(lease._id)) continue
      const run = startLease({ lease, nodeId, nodeUrl, runtime })
      runs.set(lease._id, run)
      void run.done.then(() => runs.delete(lease._id))
    }
  }

  let renewedAt = clock.elapsed()
  const renew = async (): Promise<void> => {
    const present = [...runs.values()]
    const ids = trusted({ $in: present.map(({ lease }) => lease._id) })
    try {
      if (present.length > 0) {
        const { renewed } = await renewClaims(Leases, { held: present.map(({ lease }) => lease), now: clock.now() })
        const released = await Leases.find({ _id: ids, releaseRequestedAt: trusted({ $exists: true }) })
          .select({ _id: 1 })
          .lean()
        for (const run of present) {
          if (!renewed.has(run.lease._id)) run.end(new LeaseEnd('lost'))
          else if (released.some(({ _id }) => _id === run.lease._id)) run.end(new LeaseEnd('released'))
        }
      }
      renewedAt = clock.elapsed()
    } catch (error) {
      if (clock.elapsed() - renewedAt > CLAIM_MS) for (const run of present) run.end(new LeaseEnd('lost'))
      throw error
    }
  }

  const loops = Promise.all([
    every(LOOK_MS, 'claiming leases', claim),
    every(RENEW_MS, 'renewing leases', renew),
    every(SWEEP_MS, 'ending idle leases', () =>
      endIdleLeases({ now: clock.now(), expired: WORDS.expired, released: WORDS.released }),
    ),
  ])
  return {
    join: (leaseId, socket) => {
      const run = runs.get(leaseId)
      run?.join(socket)
      return run !== undefined
    },
    size: () => runs.size,
    stop: async () => {
      stopping.abort()
      for (const run of runs.values()) run.end(new LeaseEnd('stopping'))
      await Promise.all([loops, ...[...runs.values()].map(({ done }) => done)])
    },
  }
}
