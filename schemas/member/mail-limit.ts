import mongoose, { type Model } from 'mongoose'
import { HOUR } from '../../core/clock.ts'
import { sha256 } from '../../core/ids.ts'
import { isDuplicate, trusted } from '../database.ts'

/** When mails were last asked for, of one kind: only as many times as the limit needs. */
interface MailLimit {
  /** SHA-256 of what is limited. */
  _id: string
  /** Newest last. */
  times: Date[]
  expireAt: Date
}

/** Sign-in mails to one address, and asked for from one network address, in any hour. */
export const MAILS_PER_ADDRESS = 5
export const MAILS_PER_NETWORK_ADDRESS = 30
/** Invitations that members send in any hour: of one app, far more than a team grows by, and to one address, which may never have asked for any. */
export const INVITATIONS_PER_APP = 100
export const INVITATIONS_PER_ADDRESS = 10

const schema = new mongoose.Schema<MailLimit>(
  {
    _id: { type: String, required: true },
    times: { type: [Date], required: true },
    expireAt: { type: Date, required: true },
  },
  { collection: 'mail_limits', versionKey: false },
)
schema.index({ expireAt: 1 }, { expireAfterSeconds: 0 })

export const MailLimits: Model<MailLimit> = mongoose.model<MailLimit>('MailLimit', schema)

/**
 * Takes one of `most` places in the last hour; false where all are taken. Exact over all processes: one write on one document, which
 * matches only while the oldest of the last `most` times is more than an hour ago.
 */
export async function takePlace({ what, most, now }: { what: string; most: number; now: Date }): Promise<boolean> {
  const _id = sha256(what)
  const hourAgo = new Date(now.getTime() - HOUR)
  const free = {
    $or: [{ [`times.${most - 1}`]: trusted({ $exists: false }) }, { 'times.0': trusted({ $lte: hourAgo }) }],
  }
  const update = {
    $push: { times: { $each: [now], $slice: -most } },
    $set: { expireAt: new Date(now.getTime() + HOUR) },
  }
  try {
    await MailLimits.updateOne({ _id, ...free }, update, { upsert: true })
    return true
  } catch (error) {
    if (!isDuplicate(error)) throw error
    // It exists: another caller made it in between, or no place is free.
    return (await MailLimits.updateOne({ _id, ...free }, update)).matchedCount > 0
  }
}
