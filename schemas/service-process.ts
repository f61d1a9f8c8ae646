import { hostname } from 'node:os'
import { Gauge } from 'prom-client'
import { startHealthListener } from '../core/health-listener.ts'
import { collectDefaults } from '../core/numbers.ts'
import type { Parts } from '../core/parts.ts'
import { type Runtime, runProcess } from '../core/process.ts'
import { connectDatabase, databaseAnswers } from './database.ts'
import { startHints } from './hints.ts'
import { createIndexes } from './indexes.ts'
import type { LiveActor } from './operations/actor-snapshot.ts'
import {
  followProcesses,
  type Processes,
  type ProcessKind,
  type ProcessRecorder,
  registerProcess,
} from './operations/process-record.ts'

/** What a process does once it is registered. */
export interface Work {
  /** Where it listens, if it does. */
  url?: string
  /** What it is doing: numbers by name, for operators and `/metrics`. */
  gauges(): Record<string, number>
  /** Its live actors, where it has any. */
  actors?(): LiveActor[]
  /** What its work lacks besides the database; null where it lacks nothing. */
  lacks?(): string | null
}

interface WorkOptions {
  runtime: Runtime
  /** Every part that it starts is added to these, as it starts. */
  parts: Parts
  /** Id of this process in its record. */
  processId: string
  processes: Processes
}

export type StartWork = (options: WorkOptions) => Promise<Work>

/** The whole life of one process of the service: see `runProcess` and `startWork`. */
export const runServiceProcess = ({ kind, start }: { kind: ProcessKind; start: StartWork }): Promise<void> =>
  runProcess({
    kind,
    start: async (runtime, parts) => {
      const database = await connectDatabase({ url: runtime.config.MONGODB_URL })
      parts.add({ stop: database.close })
      await createIndexes()
      return startWork({ kind, runtime, parts, start })
    },
  })

/**
 * What every process has around its work, on a database that is connected: its health listener and its record, in which it is
 * `starting`, then `running`, and `draining` from the moment that `parts` are stopped.
 */
export async function startWork({
  kind,
  runtime,
  parts,
  start,
}: {
  kind: ProcessKind
  runtime: Runtime
  parts: Parts
  start: StartWork
}): Promise<Work> {
  const { config, clock, metrics, log } = runtime
  let work: Work | undefined
  let record: ProcessRecorder | undefined
  const gauges = (): Record<string, number> => ({ ...work?.gauges(), failedBeats: record?.failedBeats() ?? 0 })
  const actors = (): LiveActor[] => work?.actors?.() ?? []
  const unready = async (): Promise<string | null> => {
    if (record?.state() !== 'running') return `The process is ${record?.state() ?? 'starting'}`
    if (!(await databaseAnswers({ clock }))) return 'The database does not answer'
    return work?.lacks?.() ?? null
  }
  collectMetrics({ metrics, gauges })
  const address = { host: config.HOST, port: config.HEALTH_PORT }
  const health = parts.add(await startHealthListener({ ...address, unready, metrics, log }))
  const processes = parts.add(followProcesses({ clock, log }))
  const { at: hintsAt } = parts.add(await startHints(runtime, processes.live))
  const where = { host: hostname(), healthPort: health.port, ...(hintsAt && { hintsAt }) }
  record = parts.add(registerProcess({ kind, ...where, clock, log, gauges, actors }))
  work = await start({ runtime, parts, processId: record.id, processes: processes.live })
  record.enter('running')
  // The last part, so the first to stop.
  parts.add({ stop: () => record?.enter('draining') })
  return work
}

/** Names no app, user or id. */
function collectMetrics({ metrics, gauges }: Pick<Runtime, 'metrics'> & Pick<Work, 'gauges'>): void {
  collectDefaults(metrics)
  new Gauge({
    name: 'ccs_work',
    help: 'What the process is doing',
    labelNames: ['what'],
    registers: [metrics],
    collect() {
      this.reset()
      for (const [what, value] of Object.entries(gauges())) this.set({ what }, value)
    },
  })
}
