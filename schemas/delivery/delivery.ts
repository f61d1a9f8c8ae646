import mongoose, { type Model } from 'mongoose'
import type { Traceparent } from '../../core/tracing.ts'
import type { EventName } from '../../wire/events.ts'
import { type Claimable, claimFields } from '../claims.ts'
import { embedded } from '../embedded.ts'

export interface Attempt {
  /** From 1; a replay by hand counts on. */
  number: number
  at: Date
  /** HTTP status; absent when no answer came. */
  status?: number
  /** Absent while the attempt is under way. */
  durationMs?: number
  /** Why it failed; absent when it was answered 2xx. */
  error?: string
  /** The first KiB of the answer. */
  answer?: string
}

/** What is known of an attempt once it has ended. */
export type AttemptResult = Required<Pick<Attempt, 'durationMs'>> & Pick<Attempt, 'status' | 'error' | 'answer'>

/** One event on its way to one app's webhook (docs/behaviour.md, Events). `_id` is the deliveryId, the same for every attempt. */
export interface Delivery extends Claimable {
  _id: string
  appId: string
  event: EventName
  /** The exact bytes of every attempt. */
  body: string
  state: 'waiting' | 'delivered' | 'dropped'
  /** An attempt is written down when it is claimed, so that a crash makes no seventh; its result follows. */
  attempts: Attempt[]
  /** Attempts that do not count among the present six: a replay by hand begins anew. */
  attemptsBefore: number
  createdAt: Date
  endedAt?: Date
  /** Kept visible for 30 days after it ended. */
  expireAt?: Date
  /** The trace of what happened. */
  traceparent?: Traceparent
}

const schema = new mongoose.Schema<Delivery>(
  {
    _id: { type: String, required: true },
    appId: { type: String, required: true },
    event: { type: String, required: true },
    body: { type: String, required: true },
    state: { type: String, enum: ['waiting', 'delivered', 'dropped'], required: true },
    attempts: {
      type: [embedded({ number: Number, at: Date, status: Number, durationMs: Number, error: String, answer: String })],
      default: [],
    },
    attemptsBefore: { type: Number, required: true, default: 0 },
    createdAt: { type: Date, required: true },
    endedAt: Date,
    expireAt: Date,
    traceparent: String,
    ...claimFields,
  },
  { collection: 'deliveries', versionKey: false },
)
/**
 * Claimed app by app (schemas/delivery-lane.ts), so that the backlog of one endpoint is never walked for another. Not a partial
 * index: DocumentDB would not serve the sort from it, and every claim would sort the whole backlog.
 */
schema.index({ appId: 1, claimableAt: 1 })
schema.index({ appId: 1, createdAt: -1 })
/** Those that were dropped, for operators: few, so the index costs the others nothing. */
schema.index({ state: 1, endedAt: -1 }, { partialFilterExpression: { state: 'dropped' } })
schema.index({ expireAt: 1 }, { expireAfterSeconds: 0, partialFilterExpression: { expireAt: { $exists: true } } })

export const Deliveries: Model<Delivery> = mongoose.model<Delivery>('Delivery', schema)
