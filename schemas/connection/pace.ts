import mongoose, { type Model } from 'mongoose'

/** How long what is reserved of a rate is kept once it has passed: longer than the clocks of two machines differ. */
const KEPT_S = 3_600

/** How fast one account of a provider is read, whichever apps it is connected through (docs/provider.md, Profile: `requestsPerMinute`). */
export interface Pace {
  /** Keyed hash of the provider and its own id of the account; tells nothing. */
  _id: string
  /** Until when permits are reserved. */
  reservedUntil: Date
}

const schema = new mongoose.Schema<Pace>(
  { _id: { type: String, required: true }, reservedUntil: { type: Date, required: true } },
  { collection: 'paces', versionKey: false },
)
schema.index({ reservedUntil: 1 }, { expireAfterSeconds: KEPT_S })

export const Paces: Model<Pace> = mongoose.model<Pace>('Pace', schema)
