import type { Model } from 'mongoose'
import { newId } from '../core/ids.ts'
import { answeredAtLast, answeredWithin, dueBy, trusted } from './database.ts'
import { LOOK_AT_LEAST_MS } from './wakeups.ts'

/**
 * Claims, not locks (docs/architecture.md, idea 2). Whatever waits has one field `claimableAt`: due time and lease expiry in one; finished
 * work has none. A claim moves it forward and counts `fence` up; every later write of that holder matches the fence.
 */
export interface Claimable {
  claimableAt?: Date
  fence: number
  /** Present while someone holds it: tells a claim from a due time. */
  claimedBy?: string
  /** Someone waits for this claim: its holder ends soon, in good order. */
  yieldRequestedAt?: Date
}

/** How long a claim holds without renewal (machine time). A holder that stalls for longer has lost what it held. */
export const CLAIM_MS = 15_000
/** A process renews what it holds this often: several chances within a claim's time. */
export const RENEW_MS = 2_000

/** A renewal that is not answered by then (machine ms) has failed: there is time for others, on another connection, before the claim runs out. */
const RENEWAL_LIMIT_MS = 3_000

export const claimFields = {
  claimableAt: { type: Date },
  fence: { type: Number, required: true, default: 0 },
  claimedBy: { type: String },
  yieldRequestedAt: { type: Date },
} as const

type Filter = Record<string, unknown>

interface ClaimOptions {
  now: Date
  /** Narrows what may be claimed, beside being due. */
  filter?: Filter
}

/**
 * Begins `claimedBy` where a document is held for other work than its own, as an ingestion holds its connection: that such a claim runs out
 * says nothing about the document's own work.
 */
const ASIDE = 'aside-'

/** A document with its claim. */
type Claimed<T> = T & {
  /** It was claimed for its own work before, and that claim ran out: the process that had it has died, or stalled. */
  lapsed: boolean
  /** Since when it was due. */
  dueAt: Date
}

/**
 * Claims up to `limit` of the longest due documents for their own work, in three round trips, whatever their number. An answer that is lost loses no
 * claim: each step finds what was done of it before.
 */
export async function claimMany<T extends Claimable & { _id: string }>(
  model: Model<T>,
  { now, filter = {}, limit }: ClaimOptions & { limit: number },
): Promise<Claimed<T>[]> {
  const due = { ...filter, claimableAt: dueBy(now) }
  const found = await answeredAtLast(() =>
    model
      .find(due)
      .sort({ claimableAt: 1 })
      .limit(limit)
      .select({ claimedBy: 1, claimableAt: 1 })
      .lean<Pick<T, '_id' | 'claimedBy' | 'claimableAt'>[]>()
      .exec(),
  )
  if (found.length === 0) return []
  const before = new Map(found.map((each) => [each._id, each]))
  const ids = trusted({ $in: [...before.keys()] })
  const claimedBy = newId()
  const claim = { $set: { claimableAt: new Date(now.getTime() + CLAIM_MS), claimedBy }, $inc: { fence: 1 } }
  await answeredAtLast(() => model.updateMany({ _id: ids, claimableAt: trusted({ $lte: now }) }, claim).exec())
  const claimed = await answeredAtLast(() => model.find({ _id: ids, claimedBy }).lean<T[]>().exec())
  return claimed.map((document) => {
    const { claimedBy: holder, claimableAt: dueAt = now } = before.get(document._id) ?? {}
    return { ...document, lapsed: holder !== undefined && !holder.startsWith(ASIDE), dueAt }
  })
}

/** When the first of what waits is due, where that is before `LOOK_AT_LEAST_MS` have passed. */
export async function firstDue<T extends Claimable & { _id: string }>(
  model: Model<T>,
  { now }: { now: Date },
): Promise<Date | undefined> {
  const until = new Date(now.getTime() + LOOK_AT_LEAST_MS)
  const first = model
    .findOne({ claimableAt: dueBy(until) })
    .sort({ claimableAt: 1 })
    .select({ claimableAt: 1 })
  return (await first.lean<Claimable>())?.claimableAt
}

/** Names one claim: a write that matches it comes from the present holder. */
export interface Held {
  _id: string
  fence: number
}

export const heldBy = ({ _id, fence }: Held): Filter => ({ _id, fence })

/** Prolongs some claims of one kind in one go; returns the ids that are still held, and those among them that others wait for. */
export function renewClaims<T extends Claimable & { _id: string }>(
  model: Model<T>,
  options: { held: Held[]; now: Date },
): Promise<{ renewed: Set<string>; yielding: Set<string> }> {
  return answeredWithin(RENEWAL_LIMIT_MS, renew(model, options))
}

async function renew<T extends Claimable & { _id: string }>(
  model: Model<T>,
  { held, now }: { held: Held[]; now: Date },
): Promise<{ renewed: Set<string>; yielding: Set<string> }> {
  const claimableAt = new Date(now.getTime() + CLAIM_MS)
  const renewals = held.map((claim) => ({
    updateOne: { filter: { ...heldBy(claim), claimedBy: { $exists: true } }, update: { $set: { claimableAt } } },
  }))
  await model.collection.bulkWrite(renewals as never[], { ordered: false })
  const found = await model
    .find({ _id: trusted({ $in: held.map(({ _id }) => _id) }) })
    .select({ fence: 1, claimedBy: 1, yieldRequestedAt: 1 })
    .lean<(Claimable & { _id: string })[]>()
  const byId = new Map(found.map((doc) => [doc._id, doc]))
  const renewed = held.filter(
    ({ _id, fence }) => byId.get(_id)?.claimedBy !== undefined && byId.get(_id)?.fence === fence,
  )
  const ids = renewed.map(({ _id }) => _id)
  return { renewed: new Set(ids), yielding: new Set(ids.filter((id) => byId.get(id)?.yieldRequestedAt !== undefined)) }
}

/** Claims one document that nobody holds, due or not; null when it is held or unknown. Returns it as it was before the claim. */
export async function claimIdle<T extends Claimable & { _id: string }>(
  model: Model<T>,
  { id, now }: { id: string; now: Date },
): Promise<(T & { heldFence: number }) | null> {
  const before = await model
    .findOneAndUpdate(
      { _id: id, $or: [{ claimedBy: trusted({ $exists: false }) }, { claimableAt: trusted({ $lte: now }) }] },
      {
        $set: { claimableAt: new Date(now.getTime() + CLAIM_MS), claimedBy: `${ASIDE}${newId()}` },
        $unset: { yieldRequestedAt: 1 },
        $inc: { fence: 1 },
      },
      { returnDocument: 'before' },
    )
    .lean<T>()
  return before && { ...before, heldFence: before.fence + 1 }
}

/** Asks the holder of a document, if there is one, to end soon. */
export async function requestYield<T extends Claimable & { _id: string }>(
  model: Model<T>,
  { id, now }: { id: string; now: Date },
): Promise<void> {
  await model.updateOne({ _id: id, claimedBy: trusted({ $exists: true }) }, { $set: { yieldRequestedAt: now } })
}
