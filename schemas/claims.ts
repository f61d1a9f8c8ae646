import type { Model } from 'mongoose'
import { newId } from '../core/ids.ts'
import { trusted } from './database.ts'

/**
 * Claims, not locks (DESIGN.md idea 2). Whatever waits has one field `claimableAt`: due time and lease expiry in one; finished
 * work has none. A claim moves it forward and counts `fence` up; every later write of that holder matches the fence.
 */
export interface Claimable {
  claimableAt?: Date
  fence: number
  claimedBy?: string
}

/** How long a claim holds without renewal (machine time). A holder that stalls for longer has lost what it held. */
export const CLAIM_MS = 15_000
/** A process renews what it holds this often: three chances within a claim's time. */
export const RENEW_MS = 5_000

export const claimFields = {
  claimableAt: { type: Date },
  fence: { type: Number, required: true, default: 0 },
  claimedBy: { type: String },
} as const

type Filter = Record<string, unknown>

export interface ClaimOptions {
  now: Date
  /** Narrows what may be claimed, beside being due. */
  filter?: Filter
}

/** Claims the longest due document, or one that `filter` names; null when nothing is due. */
export async function claimOne<T extends Claimable>(
  model: Model<T>,
  { now, filter = {} }: ClaimOptions,
): Promise<T | null> {
  return model
    .findOneAndUpdate(
      { ...filter, claimableAt: trusted({ $lte: now }) },
      { $set: { claimableAt: new Date(now.getTime() + CLAIM_MS), claimedBy: newId() }, $inc: { fence: 1 } },
      { sort: { claimableAt: 1 }, returnDocument: 'after' },
    )
    .lean<T>()
}

/** Claims up to `limit` of the longest due documents in three round trips, whatever their number. */
export async function claimMany<T extends Claimable & { _id: string }>(
  model: Model<T>,
  { now, filter = {}, limit }: ClaimOptions & { limit: number },
): Promise<T[]> {
  const due = { ...filter, claimableAt: trusted({ $lte: now }) }
  const found = await model.find(due).sort({ claimableAt: 1 }).limit(limit).select({ _id: 1 }).lean<{ _id: string }[]>()
  if (found.length === 0) return []
  const ids = trusted({ $in: found.map(({ _id }) => _id) })
  const claimedBy = newId()
  await model.updateMany(
    { _id: ids, claimableAt: trusted({ $lte: now }) },
    { $set: { claimableAt: new Date(now.getTime() + CLAIM_MS), claimedBy }, $inc: { fence: 1 } },
  )
  return model.find({ _id: ids, claimedBy }).lean<T[]>()
}

/** Names one claim: a write that matches it comes from the present holder. */
export interface Held {
  _id: string
  fence: number
}

export const heldBy = ({ _id, fence }: Held): Filter => ({ _id, fence })

/** Prolongs many claims of one kind in one go; answers the ids that are still held. */
export async function renewClaims<T extends Claimable & { _id: string }>(
  model: Model<T>,
  { held, now }: { held: Held[]; now: Date },
): Promise<Set<string>> {
  if (held.length === 0) return new Set()
  const claimableAt = new Date(now.getTime() + CLAIM_MS)
  await model.bulkWrite(
    held.map((claim) => ({
      updateOne: {
        filter: { ...heldBy(claim), claimableAt: trusted({ $exists: true }) },
        update: { $set: { claimableAt } },
      },
    })) as Parameters<typeof model.bulkWrite>[0],
    { ordered: false },
  )
  const kept = await model
    .find({ _id: trusted({ $in: held.map(({ _id }) => _id) }) })
    .select({ fence: 1, claimableAt: 1 })
    .lean<(Claimable & { _id: string })[]>()
  const fences = new Map(kept.filter((doc) => doc.claimableAt).map((doc) => [doc._id, doc.fence]))
  return new Set(held.filter(({ _id, fence }) => fences.get(_id) === fence).map(({ _id }) => _id))
}
