import { Counter, collectDefaultMetrics, Histogram, type Registry } from 'prom-client'
import { LOOP_LOOK_MS } from './process-load.ts'

/** Everything that processes count while they work, beside what prom-client measures by itself. Labels name no app, user or id. */
interface Numbers {
  /** Seconds between the moment at which something was due and its claim, by queue. */
  claimLateness: Histogram<'queue'>
  syncs: Counter<'outcome'>
  commands: Counter<'kind' | 'outcome'>
  /** Seconds that one attempt took, by how it ended. */
  deliveryAttempts: Histogram<'outcome'>
  /** Seconds from the request for a browser to the end of the flow, by how it ended. */
  leases: Histogram<'outcome'>
}

const FAST_S = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300]
/** A flow has an hour. */
const FLOW_S = [5, 15, 30, 60, 120, 300, 600, 1_800, 3_600]

/** Totals that are no counters, which Prometheus' own check refuses; the numbers by type that they add up stay. */
const MISNAMED = ['active_handles_total', 'active_requests_total', 'active_resources_total']

/** What prom-client measures by itself: processor, memory, event loop, garbage collection. */
export function collectDefaults(registry: Registry): void {
  collectDefaultMetrics({ register: registry, prefix: 'ccs_', eventLoopMonitoringPrecision: LOOP_LOOK_MS })
  for (const name of MISNAMED) registry.removeSingleMetric(`ccs_nodejs_${name}`)
}

const made = new WeakMap<Registry, Numbers>()

/** The numbers of a process; made with the first call. */
export function numbersOf(registry: Registry): Numbers {
  const present = made.get(registry)
  if (present) return present
  const registers = [registry]
  const numbers: Numbers = {
    claimLateness: new Histogram({
      name: 'ccs_claim_lateness_seconds',
      help: 'From the moment at which something was due to its claim',
      labelNames: ['queue'],
      buckets: FAST_S,
      registers,
    }),
    syncs: new Counter({ name: 'ccs_syncs_total', help: 'Syncs that ended', labelNames: ['outcome'], registers }),
    commands: new Counter({
      name: 'ccs_commands_total',
      help: 'Commands that were worked on',
      labelNames: ['kind', 'outcome'],
      registers,
    }),
    deliveryAttempts: new Histogram({
      name: 'ccs_delivery_attempt_seconds',
      help: 'Attempts of deliveries',
      labelNames: ['outcome'],
      buckets: FAST_S,
      registers,
    }),
    leases: new Histogram({
      name: 'ccs_lease_seconds',
      help: 'Connect flows, from the request for a browser to their end',
      labelNames: ['outcome'],
      buckets: FLOW_S,
      registers,
    }),
  }
  made.set(registry, numbers)
  return numbers
}
