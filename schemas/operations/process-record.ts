import mongoose, { type Model } from 'mongoose'
import { type Clock, SECOND, type Timer } from '../../core/clock.ts'
import type { HintAddress } from '../../core/hint-socket.ts'
import { newId } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import { startPoller } from '../../core/poller.ts'
import { PROCESS_STATES, type ProcessState } from '../../core/process.ts'
import { measureLoad, type ProcessLoad } from '../../core/process-load.ts'
import { answeredWithin, trusted } from '../database.ts'
import { embedded } from '../embedded.ts'
import { type LiveActor, snapshotActors } from './actor-snapshot.ts'

export type ProcessKind = 'http' | 'actors' | 'browser-farm'

/** A process that is alive, as operators see it; renewed by the process itself. */
export interface ProcessRecord extends ProcessLoad {
  _id: string
  kind: ProcessKind
  pid: number
  host: string
  state: ProcessState
  /** Where its `/healthz`, `/readyz` and `/metrics` are. */
  healthPort: number
  /** Where it takes messages of other processes (`schemas/hints.ts`). */
  hintsAt?: HintAddress
  /** What it is doing: numbers by name (actors by kind, leases, capacity), for the dashboard. */
  gauges: Record<string, number>
  startedAt: Date
  seenAt: Date
}

const BEAT_MS = 1_000
/** A beat that is not answered by then (machine ms) has failed, and the next one goes out on another connection: in time to be taken for alive. */
const BEAT_LIMIT_MS = 3 * SECOND
/** A process that was not seen for so long is taken for dead (machine time). */
const PROCESS_GONE_MS = 5_000

const schema = new mongoose.Schema<ProcessRecord>(
  {
    _id: { type: String, required: true },
    kind: { type: String, required: true },
    pid: { type: Number, required: true },
    host: { type: String, required: true },
    state: { type: String, enum: PROCESS_STATES, required: true },
    healthPort: { type: Number, required: true },
    hintsAt: embedded({ address: String, port: Number }),
    eventLoopLagMs: { type: Number, default: 0 },
    memoryBytes: { type: Number, default: 0 },
    gauges: { type: mongoose.Schema.Types.Mixed, default: {} },
    startedAt: { type: Date, required: true },
    seenAt: { type: Date, required: true },
  },
  { collection: 'processes', versionKey: false, minimize: false },
)
/** Records of dead processes go after an hour. */
schema.index({ seenAt: 1 }, { expireAfterSeconds: 3_600 })

export const ProcessRecords: Model<ProcessRecord> = mongoose.model<ProcessRecord>('ProcessRecord', schema)

export const liveProcesses = (now: Date): Promise<ProcessRecord[]> =>
  ProcessRecords.find({ seenAt: trusted({ $gte: new Date(now.getTime() - PROCESS_GONE_MS) }) })
    .sort({ startedAt: 1 })
    .lean<ProcessRecord[]>()

/** How often a process looks who else there is (machine ms): one that is gone is missed within this and the time after which it is taken for dead. */
const LOOK_EVERY_MS = 2 * SECOND

/** The processes that were alive at the last look. A hint: two that disagree about it for a while lose nothing. */
export type Processes = () => readonly ProcessRecord[]

export function followProcesses({ clock, log }: { clock: Clock; log: Logger }): {
  live: Processes
  stop(): Promise<void>
} {
  let live: ProcessRecord[] = []
  const look = async (): Promise<number> => {
    live = await liveProcesses(clock.now())
    return 0
  }
  const poller = startPoller({ name: 'processes', everyMs: LOOK_EVERY_MS, work: look, clock, log })
  return { live: () => live, stop: poller.stop }
}

export interface ProcessRecorder {
  id: string
  state(): ProcessState
  /** Notes the state that the process enters; operators see it with the write that this begins. */
  enter(state: ProcessState): void
  /** How many of its writes have failed so far. */
  failedBeats(): number
  /** Removes the record. */
  stop(): Promise<void>
}

/** The end of a process does not wait for longer on a database that is silent. */
const REMOVE_MS = 2 * SECOND

/** Keeps this process's record fresh until `stop`, beside it the snapshot of its actors while somebody looks. A database that is away is borne. */
export function registerProcess({
  kind,
  host,
  healthPort,
  hintsAt,
  clock,
  log,
  gauges,
  actors,
}: {
  kind: ProcessKind
  host: string
  healthPort: number
  hintsAt?: HintAddress
  clock: Clock
  log: Logger
  gauges: () => Record<string, number>
  /** Absent: it has none. */
  actors?: () => LiveActor[]
}): ProcessRecorder {
  const id = newId()
  const startedAt = clock.now()
  const fixed = { kind, pid: process.pid, host, healthPort, ...(hintsAt && { hintsAt }), startedAt }
  const load = measureLoad()
  let state: ProcessState = 'starting'
  let stopped = false
  let failed = 0
  let next: Timer | undefined
  /** One write after the other: an older state must not come after a newer one. */
  let beating: Promise<void> = Promise.resolve()
  const beat = async (): Promise<void> => {
    const seenAt = clock.now()
    const beaten = async (): Promise<void> => {
      await ProcessRecords.updateOne(
        { _id: id },
        { $set: { ...fixed, state, gauges: gauges(), ...load(), seenAt } },
        { upsert: true },
      )
      if (actors) await snapshotActors({ processId: id, list: actors, now: seenAt })
    }
    await answeredWithin(BEAT_LIMIT_MS, beaten()).catch((error: unknown) => {
      failed += 1
      log.warn({ err: error }, 'the process record could not be renewed')
    })
    next?.cancel()
    if (!stopped) next = clock.timer(BEAT_MS, run)
  }
  const run = (): void => {
    beating = beating.then(() => (stopped ? undefined : beat()))
  }
  run()
  return {
    id,
    state: () => state,
    failedBeats: () => failed,
    enter: (entered) => {
      state = entered
      run()
    },
    stop: async () => {
      stopped = true
      next?.cancel()
      const removed = beating.then(() => ProcessRecords.deleteMany({ _id: id }))
      await answeredWithin(REMOVE_MS, removed).catch(() => undefined)
    },
  }
}
