import { MINUTE, SECOND } from '../../core/clock.ts'
import { numbersOf } from '../../core/numbers.ts'
import type { Runtime } from '../../core/process.ts'
import { inSpan, traceOutcome } from '../../core/tracing.ts'
import { createDailyCounter } from '../../schemas/app/daily-count.ts'
import { insertDeliveries, type NewDelivery } from '../../schemas/delivery/deliveries.ts'
import type { Delivery } from '../../schemas/delivery/delivery.ts'
import { claimDeliveries, type Settlement } from '../../schemas/delivery/delivery-claims.ts'
import {
  type DeliveryLane,
  dueLanes,
  firstDueLane,
  moveLaneOn,
  repairLanes,
} from '../../schemas/delivery/delivery-lane.ts'
import type { LiveActor } from '../../schemas/operations/actor-snapshot.ts'
import { Stopping } from '../runtime.ts'
import type { Supervisor } from '../supervision.ts'
import { startWorkPoller } from '../work-poller.ts'
import { acceptDeliveries } from './accept.ts'
import { createWebhookAgent } from './agent.ts'
import { interruptedAttempt, makeAttempt } from './attempt.ts'
import { createConcurrencyLimit } from './concurrency-limit.ts'
import { type Endpoint, readEndpoints } from './endpoints.ts'
import { createResults } from './results.ts'

/** How often a process that stops looks whether its attempts have ended (machine ms). */
const LOOK_EVERY_MS = 50
/** Between an attempt's end and the look that follows (machine ms). */
const GATHER_MS = 5
const LANES_AT_ONCE = 50
const REPAIR_EVERY_MS = 5 * MINUTE
/** Of the 10 s that a process has to stop; attempts still under way then count as interrupted, and are written down in the rest. */
const FINISH_MS = 6 * SECOND

interface Deliveries {
  /** Writes new deliveries down; attempts begin as the limit allows. Resolves when they are on disk. */
  accept(list: NewDelivery[]): Promise<void>
  /** Attempts under way. */
  size(): number
  list(): LiveActor[]
  /** Claims no more, finishes what is under way within 6 s, breaks off the rest. */
  stop(): Promise<void>
}

/** Claims due deliveries and runs each attempt in an actor of its own. Any number of processes may do so at once. */
export function createDeliveries({ runtime, supervisor }: { runtime: Runtime; supervisor: Supervisor }): Deliveries {
  const { clock, log, keyring, config } = runtime
  const { deliveryAttempts: attempts, claimLateness: lateness } = numbersOf(runtime.metrics)
  const allowPrivate = config.WEBHOOK_PRIVATE_ADDRESSES
  const agent = createWebhookAgent({ allowPrivate })
  const daily = createDailyCounter({ clock, log })
  const results = createResults({ clock, log, daily })
  const concurrency = createConcurrencyLimit({ clock })

  /** Something was left because a limit was reached. */
  let left = false
  const attemptEnded = (appId: string): void => {
    if (!left || concurrency.isFull(appId)) return
    left = false
    // Results come in batches: one look for each is enough.
    clock.timer(GATHER_MS, poller.hint)
  }

  const run = (delivery: Delivery, work: (signal: AbortSignal) => Promise<Settlement>): void => {
    const { _id, appId, event } = delivery
    const room = concurrency.enter(appId)
    void supervisor
      .tell(_id, event, (signal) =>
        inSpan(
          'delivery attempt',
          { attributes: { 'ccs.delivery_id': _id, 'ccs.app_id': appId }, from: delivery },
          async () => {
            const settlement = await work(signal)
            room.leave()
            attemptEnded(appId)
            const { error, durationMs } = settlement.result
            const outcome = error === undefined ? 'delivered' : 'failed'
            traceOutcome(outcome)
            attempts.observe({ outcome }, durationMs / SECOND)
            await results.record(settlement)
          },
        ),
      )
      .catch((error: unknown) => log.error({ err: error, deliveryId: _id }, 'a delivery was left to its claim'))
      .finally(() => {
        room.end()
        attemptEnded(appId)
      })
  }

  const attempt = (delivery: Delivery, endpoint: Endpoint): void =>
    run(delivery, (signal) => makeAttempt({ delivery, endpoint, agent, clock, signal }))

  const serve = async (lane: DeliveryLane, endpointOf: (appId: string) => Endpoint): Promise<number> => {
    const appId = lane._id
    const limit = concurrency.free(appId)
    if (limit === 0) {
      left = true
      return 0
    }
    const { begun, waitedMs, interrupted, drained } = await claimDeliveries({ appId, limit, now: clock.now() })
    for (const waited of waitedMs) lateness.observe({ queue: 'deliveries' }, waited / SECOND)
    const endpoint = endpointOf(appId)
    for (const delivery of begun) attempt(delivery, endpoint)
    for (const delivery of interrupted) run(delivery, async () => interruptedAttempt(delivery, clock))
    if (drained) await moveLaneOn(lane)
    else left = true
    return begun.length + interrupted.length
  }

  const work = async (): Promise<number> => {
    const now = clock.now()
    const except = concurrency.full()
    left = except.length > 0
    const lanes = await dueLanes({ now, except, limit: LANES_AT_ONCE })
    if (lanes.length === 0) return 0
    const endpointOf = await readEndpoints({ appIds: lanes.map(({ _id }) => _id), keyring, now, allowPrivate })
    const claimed = await Promise.all(lanes.map((lane) => serve(lane, endpointOf)))
    return claimed.reduce((sum, count) => sum + count, 0)
  }

  const accepting = new Set<Promise<void>>()
  let stopping = false
  const accept = async (list: NewDelivery[]): Promise<void> => {
    if (stopping) await insertDeliveries({ waiting: list, begun: [], now: clock.now() })
    else await acceptDeliveries({ list, concurrency, clock, keyring, allowPrivate, attempt, daily })
  }
  let repairing: Promise<void> = Promise.resolve()
  const repair = (): void => {
    repairing = repairLanes()
      .catch((error: unknown) => log.warn({ err: error }, 'delivery lanes were not repaired'))
      .then(() => {
        repairTimer = clock.timer(REPAIR_EVERY_MS, repair)
      })
  }
  let repairTimer = clock.timer(0, repair)
  const nextDue = () => firstDueLane({ now: clock.now() })
  const poller = startWorkPoller({ kind: 'deliveries', work, nextDue, runtime })

  const finish = async (): Promise<void> => {
    const end = clock.elapsed() + FINISH_MS
    while (supervisor.size() > 0 && clock.elapsed() < end) await clock.sleep(LOOK_EVERY_MS)
  }

  return {
    accept: (list) => {
      const accepted = accept(list).finally(() => accepting.delete(accepted))
      accepting.add(accepted)
      return accepted
    },
    size: supervisor.size,
    list: supervisor.list,
    stop: async () => {
      stopping = true
      await poller.stop()
      await Promise.allSettled(accepting)
      await finish()
      results.giveUp()
      await supervisor.stop(new Stopping())
      await repairing
      repairTimer.cancel()
      await daily.stop()
      await agent.destroy()
    },
  }
}
