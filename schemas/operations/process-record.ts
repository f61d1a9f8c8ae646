import mongoose, { type Model } from 'mongoose'
import type { Clock } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { trusted } from '../database.ts'

export type ProcessKind = 'http' | 'actors' | 'browser-farm'

/** A process that is alive, as operators see it; renewed by the process itself. */
export interface ProcessRecord {
  _id: string
  kind: ProcessKind
  pid: number
  host: string
  /** What it is doing: numbers by name (actors by kind, leases, capacity), for the dashboard. */
  gauges: Record<string, number>
  startedAt: Date
  seenAt: Date
}

const BEAT_MS = 1_000
/** A process that was not seen for so long is taken for dead (machine time). */
export const PROCESS_GONE_MS = 5_000

const schema = new mongoose.Schema<ProcessRecord>(
  {
    _id: { type: String, required: true },
    kind: { type: String, required: true },
    pid: { type: Number, required: true },
    host: { type: String, required: true },
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

/** Keeps this process's record fresh until `stop`, which removes it. A database that is away is borne. */
export function registerProcess({
  kind,
  host,
  clock,
  gauges,
}: {
  kind: ProcessKind
  host: string
  clock: Clock
  gauges: () => Record<string, number>
}): { id: string; stop(): Promise<void> } {
  const id = newId()
  const startedAt = clock.now()
  let stopped = false
  let beating: Promise<void> = Promise.resolve()
  const beat = async (): Promise<void> => {
    await ProcessRecords.updateOne(
      { _id: id },
      { $set: { kind, pid: process.pid, host, gauges: gauges(), startedAt, seenAt: clock.now() } },
      { upsert: true },
    ).catch(() => undefined)
    if (!stopped) clock.timer(BEAT_MS, run)
  }
  const run = () => {
    beating = beat()
  }
  run()
  return {
    id,
    stop: async () => {
      stopped = true
      await beating
      await ProcessRecords.deleteOne({ _id: id }).catch(() => undefined)
    },
  }
}
