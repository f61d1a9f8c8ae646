import mongoose, { type Model } from 'mongoose'
import { type Clock, DAY, MINUTE } from '../../core/clock.ts'
import { deriveId, sha256 } from '../../core/ids.ts'
import type { FlowReason } from '../../wire/flow-ends.ts'
import { dueBy, trusted, unlessDuplicate } from '../database.ts'
import { embedded } from '../embedded.ts'
import { flowEnded } from '../flow-ended.ts'
import { type HasOutbox, outboxFields, toldOnly, withEvents } from '../outbox.ts'
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
  /** The document goes then, once its event was relayed: until that its nonce stays spent. Absent as long as its end has to be told. */
  expireAt?: Date
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
    expireAt: Date,
    ...outboxFields,
  },
  { collection: 'captures', versionKey: false },
)
announceDue(schema, { outboxAt: 'outboxes' })
schema.index({ outboxAt: 1 }, { partialFilterExpression: { outboxAt: { $exists: true } } })
schema.index({ endDueAt: 1 }, { partialFilterExpression: { endDueAt: { $exists: true } } })
schema.index({ expireAt: 1 }, toldOnly({ name: 'expired_and_told', afterSeconds: 0 }))
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
    ...(tellsEnd ? { endDueAt: expiresAt } : { expireAt: keptFrom(expiresAt) }),
    outbox: [],
  })
}

const keptFrom = (end: Date): Date => new Date(end.getTime() + KEPT_MS)

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
  await Captures.updateOne({ _id: id }, spent(now))
}

const spent = (now: Date) => ({
  $set: { spentAt: now, expireAt: keptFrom(now) },
  $unset: { takenUntil: 1, endDueAt: 1 },
})

/** Attempts that have expired, and of whose end their apps want to hear. */
export const expiredCaptures = ({ now, limit }: { now: Date; limit: number }): Promise<Capture[]> =>
  Captures.find({ endDueAt: dueBy(now) })
    .limit(limit)
    .lean<Capture[]>()

/** Ends an attempt: with its event, unless its connect command tells of it (`told`). */
export async function endCapture({
  capture: { _id, appId, userRef },
  reason,
  told = false,
  now,
}: {
  capture: Pick<Capture, '_id' | 'appId' | 'userRef'>
  reason: FlowReason
  told?: boolean
  now: Date
}): Promise<void> {
  const events = told ? [] : [flowEnded({ flowId: _id, appId, userRef, reason, at: now })]
  await Captures.updateOne({ _id, endDueAt: trusted({ $exists: true }) }, withEvents(spent(now), events, now))
}

/** Writes an attempt down as one that has ended, with the event of it, where the process that began it did not. Nothing where it is written down. */
export async function endUnwrittenCapture({
  flow,
  reason,
  now,
}: {
  flow: Pick<Capture, '_id' | 'appId' | 'userId' | 'userRef' | 'generation' | 'provider'>
  reason: FlowReason
  now: Date
}): Promise<void> {
  const { _id, appId, userRef } = flow
  const outbox = [flowEnded({ flowId: _id, appId, userRef, reason, at: now })]
  const times = { createdAt: now, expiresAt: now, spentAt: now, expireAt: keptFrom(now), outboxAt: now }
  // No secret has this digest.
  await Captures.create({ ...flow, ...times, secretDigest: '-', outbox }).catch(unlessDuplicate)
}

/** A user whose data is deleted has no attempt under way either. What is left of them goes once their ends have been told. */
export const deleteCapturesOf = ({ userId, now }: { userId: string; now: Date }): Promise<void> =>
  deleteCaptures({ userId }, now)

/** The same for attempts that began before the user's present number and were written down late: nothing can come of them. */
export const deleteOutdatedCaptures = ({
  userId,
  generation,
  now,
}: {
  userId: string
  generation: number
  now: Date
}): Promise<void> => deleteCaptures({ userId, generation: trusted({ $lt: generation }) }, now)

async function deleteCaptures(filter: Record<string, unknown>, now: Date): Promise<void> {
  const untold = await Captures.find({ ...filter, endDueAt: trusted({ $exists: true }) }).lean<Capture[]>()
  for (const capture of untold) await endCapture({ capture, reason: 'deleted', now })
  const absent = trusted({ $exists: false })
  await Captures.deleteMany({ ...filter, endDueAt: absent, outboxAt: absent })
}

/** What an attempt leads to has ids of its own that any process derives alike, so that it is made once. */
export const idsOfCapture = (captureNonce: string): { connectionId: string; commandId: string } => ({
  connectionId: deriveId('connection', captureNonce),
  commandId: deriveId('connect', captureNonce),
})
