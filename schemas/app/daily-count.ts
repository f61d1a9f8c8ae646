import mongoose, { type Model } from 'mongoose'
import { type Clock, DAY, SECOND } from '../../core/clock.ts'
import type { Logger } from '../../core/log.ts'
import { trusted } from '../database.ts'

/** What can be counted of an app, by day. */
const COUNTED = ['requests', 'refused', 'delivered', 'failed', 'discarded'] as const
type Counted = (typeof COUNTED)[number]
type Counts = Record<Counted, number>

/** What happened in one app on one day (UTC). */
interface DailyCount extends Partial<Counts> {
  /** appId|YYYY-MM-DD */
  _id: string
  appId: string
  day: string
  /** Requests of the busiest minute. */
  busiest?: number
  expireAt: Date
}

/** Longer than the 30 days that are shown. */
const KEPT_MS = 40 * DAY
/** Counts of a process are added to the database this often; what a killed process (not one that is stopped) had in hand is missing from a chart, and from nothing else. */
const WRITE_EVERY_MS = 5 * SECOND

const schema = new mongoose.Schema<DailyCount>(
  {
    _id: { type: String, required: true },
    appId: { type: String, required: true },
    day: { type: String, required: true },
    requests: Number,
    refused: Number,
    delivered: Number,
    failed: Number,
    discarded: Number,
    busiest: Number,
    expireAt: { type: Date, required: true },
  },
  { collection: 'daily_counts', versionKey: false },
)
schema.index({ appId: 1, day: 1 })
schema.index({ expireAt: 1 }, { expireAfterSeconds: 0 })

export const DailyCounts: Model<DailyCount> = mongoose.model<DailyCount>('DailyCount', schema)

const dayOf = (at: Date): string => at.toISOString().slice(0, 10)

export interface DailyCounter {
  /** Costs nothing but memory until the next write. */
  add(appId: string, what: Counted, count?: number): void
  /** The app's requests in its present minute. */
  minute(appId: string, requests: number): void
  /** Writes what is in hand. */
  stop(): Promise<void>
}

interface InHand {
  appId: string
  day: string
  $inc: Partial<Counts>
  busiest: number
}

/** Counts of this process, gathered and added now and then: one write for many requests. A database that is away is borne. */
export function createDailyCounter({ clock, log }: { clock: Clock; log: Logger }): DailyCounter {
  let inHand = new Map<string, InHand>()
  const write = async (): Promise<void> => {
    const now = clock.now()
    const batch = inHand
    inHand = new Map()
    if (batch.size === 0) return
    await DailyCounts.bulkWrite(
      [...batch].map(([_id, { appId, day, $inc, busiest }]) => ({
        updateOne: {
          filter: { _id },
          update: {
            ...(Object.keys($inc).length > 0 && { $inc }),
            ...(busiest > 0 && { $max: { busiest } }),
            $setOnInsert: { appId, day, expireAt: new Date(now.getTime() + KEPT_MS) },
          },
          upsert: true,
        },
      })),
      { ordered: false },
    ).catch((error: unknown) => log.warn({ err: error }, 'daily counts were not written'))
  }
  let writing: Promise<void> = Promise.resolve()
  let timer: { cancel(): void } | undefined
  const flush = (): void => {
    timer = undefined
    writing = write()
  }
  const of = (appId: string): InHand => {
    const day = dayOf(clock.now())
    const _id = `${appId}|${day}`
    const known = inHand.get(_id) ?? { appId, day, $inc: {}, busiest: 0 }
    inHand.set(_id, known)
    timer ??= clock.timer(WRITE_EVERY_MS, flush)
    return known
  }
  return {
    add: (appId, what, count = 1) => {
      const { $inc } = of(appId)
      $inc[what] = ($inc[what] ?? 0) + count
    },
    minute: (appId, requests) => {
      const known = of(appId)
      known.busiest = Math.max(known.busiest, requests)
    },
    stop: async () => {
      timer?.cancel()
      await writing
      await write()
    },
  }
}

export interface DayOfCounts extends Counts {
  day: string
  busiest: number
}

/** The last days of an app, oldest first, today included; a day on which nothing happened has zeros. */
export async function dailyCountsOf({
  appId,
  days,
  now,
}: {
  appId: string
  days: number
  now: Date
}): Promise<DayOfCounts[]> {
  const names = Array.from({ length: days }, (_, back) => dayOf(new Date(now.getTime() - (days - 1 - back) * DAY)))
  const found = await DailyCounts.find({ appId, day: trusted({ $gte: names[0] ?? '' }) }).lean<DailyCount[]>()
  const byDay = new Map(found.map((each) => [each.day, each]))
  return names.map((day) => {
    const known = byDay.get(day)
    const counts = Object.fromEntries(COUNTED.map((what) => [what, known?.[what] ?? 0])) as Counts
    return { day, ...counts, busiest: known?.busiest ?? 0 }
  })
}
