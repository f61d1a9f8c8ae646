import mongoose, { type Model } from 'mongoose'
import { type Clock, DAY, MINUTE } from '../../core/clock.ts'
import { deriveId, sha256 } from '../../core/ids.ts'
import { dueBy, trusted } from '../database.ts'
import { embedded } from '../embedded.ts'
import { flowEnded } from '../flow-ended.ts'
import { type HasOutbox, outboxFields, withEvents } from '../outbox.ts'
import { announceDue } from '../wakeups.ts'
import type { Device } from './device.ts'

/** One attempt of native connect between `start` and `capture` (docs/behaviour.md, POST /api/connect-native). */
export interface Capture extends HasOutbox {
  /** captureNonce */
  _id: string
  appId: string
  userId: string
  userRef: string
  /** The user's number when the attempt began. */
  generation: number
  provider: string
  /** SHA-256 of the clientSecret, which is shown once and kept nowhere. */
  secretDigest: string
  device?: Device
  createdAt: Date
  /** The capture credential's hour. */
  expiresAt: Date
  /** Nobody else may take it until then: whoever took it is creating the connection, or has died. */
  takenUntil?: Date
  /** It led to a connection or a refusal. */
  spentAt?: Date
  /** Where the app wants to hear of its end (`connect.ended`): when it has expired, until it is spent. */
  endDueAt?: Date
  /** The document goes then: until that its nonce stays spent. */
  expireAt: Date
}

/** How long one request may take for the connection (machine time); after that its process is taken for dead. */
const TAKEN_MS = MINUTE
const KEPT_MS = DAY

const schema = new mongoose.Schema<Capture>(
  {
    _id: { type: String, required: true },
    appId: { type: String, required: true },
    userId: { type: String, required: true },
    userRef: { type: String, required: true },
    generation: { type: Number, default: 0 },
    provider: { type: String, required: true },
    secretDigest: { type: String, required: true },
    device: embedded({ platform: String, osVersion: String, sdkVersion: String, model: String, appVersion: String }),
    createdAt: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
    takenUntil: Date,
    spentAt: Date,
    endDueAt: Date,
    expireAt: { type: Date, required: true },
    ...outboxFields,
  },
  { collection: 'captures', versionKey: false },
)
announceDue(schema, { outboxAt: 'outboxes' })
schema.index({ outboxAt: 1 }, { partialFilterExpression: { outboxAt: { $exists: true } } })
schema.index({ endDueAt: 1 }, { partialFilterExpression: { endDueAt: { $exists: true } } })
schema.index({ expireAt: 1 }, { expireAfterSeconds: 0 })
schema.index({ userId: 1 })

export const Captures: Model<Capture> = mongoose.model<Capture>('Capture', schema)

/** Writes an attempt down; its credential ends after `lifetimeMs` (a service wait). */
export async function createCapture({
  clientSecret,
  lifetimeMs,
  tellsEnd,
  clock,
  ...fields
}: Pick<Capture, '_id' | 'appId' | 'userId' | 'userRef' | 'generation' | 'provider' | 'device'> & {
  clientSecret: string
  lifetimeMs: number
  tellsEnd: boolean
  clock: Clock
}): Promise<void> {
  const createdAt = clock.now()
  const expiresAt = clock.after(lifetimeMs)
  await Captures.create({
    ...fields,
    secretDigest: sha256(clientSecret),
    createdAt,
    expiresAt,
    ...(tellsEnd && { endDueAt: expiresAt }),
    outbox: [],
    expireAt: new Date(expiresAt.getTime() + KEPT_MS),
  })
}

/** Takes an unspent attempt for one request; null when it is spent, expired or taken. Of parallel requests one gets it. */
export const takeCapture = ({ id, now }: { id: string; now: Date }): Promise<Capture | null> =>
  Captures.findOneAndUpdate(
    {
      _id: id,
      spentAt: trusted({ $exists: false }),
      expiresAt: trusted({ $gt: now }),
      $or: [{ takenUntil: trusted({ $exists: false }) }, { takenUntil: trusted({ $lte: now }) }],
    },
    { $set: { takenUntil: new Date(now.getTime() + TAKEN_MS) } },
    { returnDocument: 'after' },
  ).lean<Capture>()

/** Lets the same attempt be tried again: its connection is still being created. */
export async function returnCapture({ id }: { id: string }): Promise<void> {
  await Captures.updateOne({ _id: id }, { $unset: { takenUntil: 1 } })
}

/** From now on the credential works no more. */
export async function spendCapture({ id, now }: { id: string; now: Date }): Promise<void> {
  await Captures.updateOne({ _id: id }, { $set: { spentAt: now }, $unset: { takenUntil: 1, endDueAt: 1 } })
}

/** Attempts that have expired, and of whose end their apps want to hear. */
export const expiredCaptures = ({ now, limit }: { now: Date; limit: number }): Promise<Capture[]> =>
  Captures.find({ endDueAt: dueBy(now) })
    .limit(limit)
    .lean<Capture[]>()

/** Ends an attempt that has expired: with its event, unless its connect command has told of it. */
export async function expireCapture({
  capture: { _id, appId, userRef },
  told,
  now,
}: {
  capture: Capture
  told: boolean
  now: Date
}): Promise<void> {
  const events = told ? [] : [flowEnded({ flowId: _id, appId, userRef, reason: 'time_over', at: now })]
  const update = { $set: { spentAt: now }, $unset: { takenUntil: 1, endDueAt: 1 } }
  await Captures.updateOne({ _id, endDueAt: trusted({ $exists: true }) }, withEvents(update, events, now))
}

/** A user whose data is deleted has no attempt under way either, and nothing is left of earlier ones. */
export async function deleteCapturesOf({ userId }: { userId: string }): Promise<void> {
  await Captures.deleteMany({ userId })
}

/** Deletes attempts of a user that began before its present number and were written down late: nothing can come of them. */
export async function deleteOutdatedCaptures({ userId, generation }: { userId: string; generation: number }) {
  await Captures.deleteMany({ userId, generation: trusted({ $lt: generation }) })
}

/** What an attempt leads to has ids of its own that any process derives alike, so that it is made once. */
export const idsOfCapture = (captureNonce: string): { connectionId: string; commandId: string } => ({
  connectionId: deriveId('connection', captureNonce),
  commandId: deriveId('connect', captureNonce),
})
