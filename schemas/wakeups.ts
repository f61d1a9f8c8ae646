import mongoose, { type Model, type Schema } from 'mongoose'
import { SECOND, systemClock } from '../core/clock.ts'
import { createWakeable } from '../core/wakeable.ts'
import { answeredWithin } from './database.ts'

/**
 * Who looks for work looks when there is some. Whoever writes something that is due says so: at once to the pollers of its own process and,
 * by a message, to the processes that it knows of (`schemas/hints.ts`); and for those that no message reaches it counts the kind up in one small
 * document, which an idle process reads instead of every collection that may hold work. A hint only: losing one costs `LOOK_AT_LEAST_MS`.
 */
export const WORK = ['commands', 'connections', 'outboxes', 'deliveries', 'mails'] as const
export type Work = (typeof WORK)[number]

/**
 * Beside work, what is told by messages alone, to those who look for it often all the same: flows that want a browser, flows whose browser's
 * holder or state has changed, and commands that have ended.
 */
export const HINTS = [...WORK, 'leases', 'flows', 'answers'] as const
export type Hint = (typeof HINTS)[number]

/** Every kind of work is looked for this often whatever is heard of it (machine ms). What is due later than that wakes nobody when it is written. */
export const LOOK_AT_LEAST_MS = 2 * SECOND
/** How often a process reads the document (machine ms): a message that was lost costs half of it, on average. */
const READ_EVERY_MS = SECOND
/** The same for a while after the document told of something that no message had told of: from there none seem to come. */
const UNTOLD_READ_EVERY_MS = 20
const UNTOLD_FOR_MS = 10 * SECOND
/** What a message told of so lately is what the document tells of now. */
const TOLD_WITHIN_MS = 2 * READ_EVERY_MS
/** Between two messages of one process (machine ms): what is written meanwhile shares the next. */
const MESSAGE_EVERY_MS = 5
/** Between two counts of one process (machine ms), so that the document stays cool under load. */
const COUNT_EVERY_MS = 50

/** The document on a connection that answers is there at once (machine ms): whoever hears nothing on one asks again on another. */
const ANSWER_MS = SECOND

const ID = 'work'

type Wakeups = { _id: string } & Partial<Record<Work, number>>

const schema = new mongoose.Schema<Wakeups>(
  { _id: { type: String, required: true }, ...Object.fromEntries(WORK.map((kind) => [kind, Number])) },
  { collection: 'wakeups', versionKey: false },
)
export const Wakeups: Model<Wakeups> = mongoose.model<Wakeups>('Wakeups', schema)

interface Listener {
  kind: Hint
  hint: () => void
}
/** Of this process: they hear without a way through the network or the database. */
const listeners = new Set<Listener>()
/** When each kind was last told of, here or by a message (`clock.elapsed()`). */
const toldAt = new Map<Hint, number>()
const clock = systemClock()

let sendToOthers: (kinds: Hint[]) => void = () => undefined
/** Has every hint of this process sent to others too, until the returned function is called. */
export function sendHints(send: (kinds: Hint[]) => void): () => void {
  sendToOthers = send
  return () => {
    sendToOthers = () => undefined
  }
}

const isWork = (kind: Hint): kind is Work => (WORK as readonly Hint[]).includes(kind)

/** Work of this kind was written and is due, or an answer. Never fails, and is not worth waiting for. */
export function wake(kind: Hint): void {
  tell(kind)
  message(kind)
  if (isWork(kind)) count(kind)
}

/** Something of this kind was written, as this process or a message says. */
export function tell(kind: Hint): void {
  toldAt.set(kind, clock.elapsed())
  passOn(kind)
}

function passOn(kind: Hint): void {
  for (const listener of listeners) if (listener.kind === kind) listener.hint()
}

const message = gathered<Hint>(MESSAGE_EVERY_MS, async (kinds) => sendToOthers(kinds))
const count = gathered<Work>(COUNT_EVERY_MS, async (kinds) => {
  const $inc = Object.fromEntries(kinds.map((kind) => [kind, 1]))
  const counting = Wakeups.collection.updateOne({ _id: ID } as never, { $inc }, { upsert: true })
  await answeredWithin(ANSWER_MS, counting).catch(() => undefined)
})

/** Does `work` with what it is called with: at once, and with all that comes until `everyMs` later together. */
function gathered<T>(everyMs: number, work: (items: T[]) => Promise<void>): (item: T) => void {
  const waiting = new Set<T>()
  let working = false
  const run = async (): Promise<void> => {
    working = true
    while (waiting.size > 0) {
      const items = [...waiting]
      waiting.clear()
      await work(items)
      await clock.sleep(everyMs)
    }
    working = false
  }
  return (item) => {
    waiting.add(item)
    if (!working) void run()
  }
}

/** Calls `hint` whenever this process, or a message of another one, tells of this kind, until it is stopped. */
export function onHint(kind: Hint, hint: () => void): { stop(): void } {
  const listener = { kind, hint }
  listeners.add(listener)
  return { stop: () => void listeners.delete(listener) }
}

/** Hears of one kind until it is stopped. */
export interface Hearing {
  /** Ends once something of the kind was told since the last pause ended (or the hearing began), at the latest after so long (machine ms). */
  pause(ms: number, signal?: AbortSignal): Promise<void>
  stop(): void
}

/** For whoever looks for something again and again: told of it, it looks at once. Pauses reject with the reason of their signal. */
export function hear(kind: Hint): Hearing {
  const told = createWakeable({ clock })
  const listening = onHint(kind, told.wake)
  return {
    pause: async (ms, signal) => {
      await told.pause(ms, signal)
      told.forget()
    },
    stop: listening.stop,
  }
}

let reader: { stop(): Promise<void> } | undefined
let readFor = 0

/** The same for who has no other way to hear: whatever becomes of the messages, the document tells. */
export function onWork(kind: Work, hint: () => void): { stop(): Promise<void> } {
  const listening = onHint(kind, hint)
  readFor += 1
  reader ??= startReader()
  return {
    stop: async () => {
      listening.stop()
      readFor -= 1
      if (readFor > 0) return
      const last = reader
      reader = undefined
      await last?.stop()
    },
  }
}

/** Reads the document for all listeners of this process. A database that is away is borne: whoever looks for work says so. */
function startReader(): { stop(): Promise<void> } {
  const stopping = new AbortController()
  const wasTold = (kind: Work): boolean =>
    clock.elapsed() - (toldAt.get(kind) ?? Number.NEGATIVE_INFINITY) < TOLD_WITHIN_MS
  let known: Partial<Record<Work, number>> | undefined
  let untoldAt = Number.NEGATIVE_INFINITY
  const read = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const reading = Wakeups.collection.findOne({ _id: ID } as never)
      const found = await answeredWithin(ANSWER_MS, reading).catch(() => null)
      const counts = (found as typeof known | null) ?? known
      const written = WORK.filter((kind) => counts?.[kind] !== known?.[kind])
      if (known && !written.every(wasTold)) untoldAt = clock.elapsed()
      known = counts
      for (const kind of written) passOn(kind)
      const everyMs = clock.elapsed() - untoldAt < UNTOLD_FOR_MS ? UNTOLD_READ_EVERY_MS : READ_EVERY_MS
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
 * Has every write of this schema that sets one of these fields to a time that is soon, or past, tell of that kind, once it is written.
 * `bulkWrite`, `insertMany` and the driver's own calls go past it.
 */
export function announceDue<T>(target: Schema<T>, fields: Partial<Record<keyof T & string, Hint>>): void {
  const announce = (written: Record<string, unknown>): void => {
    for (const [field, kind] of Object.entries(fields)) if (kind && isSoon(written[field])) wake(kind as Hint)
  }
  target.post('save', (document) => announce(document as unknown as Record<string, unknown>))
  target.post(['updateOne', 'updateMany', 'findOneAndUpdate'], function () {
    const { $set, $setOnInsert } = (this.getUpdate() ?? {}) as Update
    announce({ ...$setOnInsert, ...$set })
  })
}
