import type { WebSocket } from 'ws'
import { SECOND } from '../core/clock.ts'
import { numbersOf } from '../core/numbers.ts'
import { startPoller } from '../core/poller.ts'
import { claimMany } from '../schemas/claims.ts'
import { dueBy, trusted } from '../schemas/database.ts'
import { createHeldClaims } from '../schemas/held-claims.ts'
import { type Lease, Leases } from '../schemas/lease/lease.ts'
import { expireLeases } from '../schemas/lease/lease-ends.ts'
import { onHint } from '../schemas/wakeups.ts'
import { LeaseEnd } from './lease-end.ts'
import { type LeaseRun, startLease } from './lease-run.ts'
import type { FarmRuntime } from './runtime.ts'

/** How often a node with room looks for leases to claim (machine time), and whenever one was written. */
const LOOK_MS = 200
const SWEEP_MS = 2 * SECOND

/** A flow without a browser is due when its hour is over, and then there is nothing to do but to end it. */
const UNPARKED = { state: trusted({ $ne: 'parked' }) }

export interface FarmNode {
  /** Shows a lease to a viewer; false where this node does not hold it. */
  join(leaseId: string, socket: WebSocket): boolean
  /** How many leases it holds. */
  size(): number
  /** Renewals of its claims that have failed so far. */
  failedRenewals(): number
  /** Hands everything back. */
  stop(): Promise<void>
}

/** Claims leases while there is room, and runs what it holds. */
export function startNode({
  nodeId,
  nodeUrl,
  runtime,
}: {
  nodeId: string
  nodeUrl: string
  runtime: FarmRuntime
}): FarmNode {
  const { clock, config, log, browsers, metrics } = runtime
  const { claimLateness: lateness } = numbersOf(metrics)
  const runs = new Map<string, LeaseRun>()
  const held = createHeldClaims({ clock, log })
  let stopped = false

  const run = (lease: Lease): void => {
    if (stopped) return
    // Claimed again while it is just leaving this node: the earlier run ends first.
    const earlier = runs.get(lease._id)
    if (earlier) return void earlier.done.then(() => run(lease))
    const started = startLease({ lease, nodeId, nodeUrl, runtime })
    const release = held.hold(Leases, lease, () => started.end(new LeaseEnd('lost')))
    runs.set(lease._id, started)
    void started.done.then(() => {
      release()
      runs.delete(lease._id)
    })
  }
  /** Room that looks under way may fill yet. */
  let asked = 0
  const claim = async (): Promise<number> => {
    // A node with a browser at hand serves a visitor sooner than one that has to launch it first.
    const room = Math.min(config.FARM_CAPACITY - runs.size, browsers.ready()) - asked
    if (room <= 0) return 0
    asked += room
    try {
      return await claimUpTo(room)
    } finally {
      asked -= room
    }
  }
  const claimUpTo = async (room: number): Promise<number> => {
    const now = clock.now()
    const claimed = await claimMany(Leases, { now, filter: UNPARKED, limit: room })
    for (const lease of claimed) {
      lateness.observe({ queue: 'leases' }, (now.getTime() - lease.dueAt.getTime()) / SECOND)
      run(lease)
    }
    return claimed.length
  }
  /** Flows whose hour ends while nobody holds them. */
  const sweep = async (): Promise<number> => {
    const now = clock.now()
    await expireLeases({ filter: { claimableAt: dueBy(now) }, now })
    return 0
  }

  const claiming = startPoller({ name: 'leases', everyMs: LOOK_MS, work: claim, clock, log })
  const listening = onHint('leases', claiming.hint)
  const pollers = [claiming, startPoller({ name: 'expired leases', everyMs: SWEEP_MS, work: sweep, clock, log })]
  return {
    join: (leaseId, socket) => {
      const present = runs.get(leaseId)
      present?.join(socket)
      return present !== undefined
    },
    size: () => runs.size,
    failedRenewals: held.failedRenewals,
    stop: async () => {
      listening.stop()
      await Promise.all(pollers.map((poller) => poller.stop()))
      stopped = true
      for (const present of runs.values()) present.end(new LeaseEnd('stopping'))
      await Promise.all([...runs.values()].map(({ done }) => done))
      await held.stop()
    },
  }
}
