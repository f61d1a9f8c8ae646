import mongoose, { type Model, type Schema } from 'mongoose'
import { SECOND, systemClock } from '../core/clock.ts'

/**
 * Who looks for work looks when there is some: whoever writes something that is due counts its kind up in one small document, and an
 * idle process reads that document instead of every collection that may hold work. A hint only: losing one costs `LOOK_AT_LEAST_MS`.
 */
const WORK = ['commands', 'connections', 'outboxes', 'deliveries', 'mails'] as const
export type Work = (typeof WORK)[number]

/** Every kind of work is looked for this often whatever is heard of it (machine ms). What is due later than that wakes nobody when it is written. */
export const LOOK_AT_LEAST_MS = 2 * SECOND
/** How often a process reads the document (machine ms): what was written in another process waits for half of it, on average. */
const READ_EVERY_MS = 20
/** The same once nothing was heard for a while: an idle process costs next to nothing. */
const IDLE_READ_EVERY_MS = 150
const IDLE_AFTER_MS = 10 * SECOND
/** Between two counts of one process (machine ms): what is written meanwhile shares the next, so that the document stays cool under load. */
const GATHER_MS = 5

const ID = 'work'

type Wakeups = { _id: string } & Partial<Record<Work, number>>

const schema = new mongoose.Schema<Wakeups>(
  { _id: { type: String, required: true }, ...Object.fromEntries(WORK.map((kind) => [kind, Number])) },
  { collection: 'wakeups', versionKey: false },
)
export const Wakeups: Model<Wakeups> = mongoose.model<Wakeups>('Wakeups', schema)

interface Listener {
  kind: Work
  hint: () => void
}
/** Of this process: they hear without a way through the database. */
const listeners = new Set<Listener>()
const clock = systemClock()
const waiting = new Set<Work>()
let counting = false

/** Work of this kind was written and is due. Never fails, and is not worth waiting for. */
export function wake(kind: Work): void {
  tell(kind)
  waiting.add(kind)
  if (!counting) void count()
}

function tell(kind: Work): void {
  for (const listener of listeners) if (listener.kind === kind) listener.hint()
}

async function count(): Promise<void> {
  counting = true
  while (waiting.size > 0) {
    const $inc = Object.fromEntries([...waiting].map((kind) => [kind, 1]))
    waiting.clear()
    await Wakeups.collection.updateOne({ _id: ID } as never, { $inc }, { upsert: true }).catch(() => undefined)
    await clock.sleep(GATHER_MS)
  }
  counting = false
}

let reader: { stop(): Promise<void> } | undefined

/** Calls `hint` whenever work of this kind was written, here or in another process, until it is stopped. */
export function onWork(kind: Work, hint: () => void): { stop(): Promise<void> } {
  const listener = { kind, hint }
  listeners.add(listener)
  reader ??= startReader()
  return {
    stop: async () => {
      listeners.delete(listener)
      if (listeners.size > 0) return
      const last = reader
      reader = undefined
      await last?.stop()
    },
  }
}

/** Reads the document for all listeners of this process. A database that is away is borne: whoever looks for work says so. */
function startReader(): { stop(): Promise<void> } {
  const stopping = new AbortController()
  let known: Partial<Record<Work, number>> = {}
  let heardAt = clock.elapsed()
  const read = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const found = await Wakeups.collection.findOne({ _id: ID } as never).catch(() => null)
      const counts = (found as typeof known | null) ?? known
      const heard = WORK.filter((kind) => counts[kind] !== known[kind])
      known = counts
      for (const kind of heard) tell(kind)
      const now = clock.elapsed()
      if (heard.length > 0) heardAt = now
      const everyMs = now - heardAt < IDLE_AFTER_MS ? READ_EVERY_MS : IDLE_READ_EVERY_MS
      await clock.sleep(everyMs, stopping.signal).catch(() => undefined)
    }
  }
  const reading = read()
  return {
    stop: async () => {
      stopping.abort()
      await reading
    },
  }
}

/** Whether something that is due then is to be told of now. */
export const isSoon = (at: unknown): boolean =>
  at instanceof Date && at.getTime() < clock.now().getTime() + LOOK_AT_LEAST_MS

type Update = Record<'$set' | '$setOnInsert', Record<string, unknown> | undefined>

/**
 * Has every write of this schema that sets one of these fields to a time that is soon tell of that kind of work, once it is written.
 * `bulkWrite`, `insertMany` and the driver's own calls go past it.
 */
export function announceDue<T>(target: Schema<T>, fields: Partial<Record<keyof T & string, Work>>): void {
  const announce = (written: Record<string, unknown>): void => {
    for (const [field, kind] of Object.entries(fields)) if (kind && isSoon(written[field])) wake(kind as Work)
  }
  target.post('save', (document) => announce(document as unknown as Record<string, unknown>))
  target.post(['updateOne', 'updateMany', 'findOneAndUpdate'], function () {
    const { $set, $setOnInsert } = (this.getUpdate() ?? {}) as Update
    announce({ ...$setOnInsert, ...$set })
  })
}
