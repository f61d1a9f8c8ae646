import { deriveId } from '../core/ids.ts'
import { carriedTrace, type Traceparent } from '../core/tracing.ts'
import type { EventName, EventPayloads } from '../wire/events.ts'
import { embedded } from './embedded.ts'

/**
 * Events leave through an outbox (docs/architecture.md, idea 5): the change of a document and the intent to tell the app are one update.
 * `outboxAt` exists only while the outbox holds something, so that its index is as small as the work that is left.
 */
export interface OutboxEntry {
  /** Derived from what happened: a rerun writes the same id, and the relay makes one delivery of it. */
  id: string
  appId: string
  event: EventName
  /** JSON text, so that every value arrives as it was meant. */
  payload: string
  at: Date
  /** The trace of what happened. */
  traceparent?: Traceparent
}

export interface HasOutbox {
  outbox: OutboxEntry[]
  outboxAt?: Date
}

export const outboxFields = {
  outbox: {
    type: [embedded({ id: String, appId: String, event: String, payload: String, at: Date, traceparent: String })],
    default: [],
  },
  outboxAt: { type: Date },
}

/**
 * For the index that ends the retention of a document with an outbox: `schema.index(…, toldOnly({ name, afterSeconds }))`. A document whose
 * events no relay has taken yet stays, for however long none runs.
 */
export const toldOnly = ({ name, afterSeconds }: { name: string; afterSeconds: number }) => ({
  // A name of its own: earlier versions have an index of the same key that does not wait.
  name,
  expireAfterSeconds: afterSeconds,
  partialFilterExpression: { outbox: [] },
})

/** An intent to send `event`. `cause` names what happened (a command, a run, a link): same cause, same event, same delivery. */
export function outboxEntry<E extends EventName>({
  cause,
  appId,
  event,
  payload,
  at,
}: {
  cause: string
  appId: string
  event: E
  payload: EventPayloads[E]
  at: Date
}): OutboxEntry {
  return { id: deriveId('event', event, cause), appId, event, payload: JSON.stringify(payload), at, ...carriedTrace() }
}

/** The delivery that an intent becomes, by whichever relay. */
export const deliveryIdOf = (entryId: string): string => deriveId('delivery', entryId)

type Update = { $set?: Record<string, unknown>; $push?: Record<string, unknown> } & Record<string, unknown>

/** An update together with the intent to tell of it: one write. Without entries it is the update as it was. */
export function withEvents(update: Update, entries: OutboxEntry[], at: Date): Update {
  if (entries.length === 0) return update
  return { ...update, $set: { ...update.$set, outboxAt: at }, $push: { ...update.$push, outbox: { $each: entries } } }
}
