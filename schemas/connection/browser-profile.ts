import mongoose, { type Model } from 'mongoose'

/**
 * What the hosted browser of a connection remembered of the provider's site, sealed with the connection's key. It goes with the
 * connection; a reconnect of a session that ended begins with it.
 */
interface BrowserProfile {
  /** connection id */
  _id: string
  sealed: Buffer
  storedAt: Date
}

const schema = new mongoose.Schema<BrowserProfile>(
  {
    _id: { type: String, required: true },
    sealed: { type: Buffer, required: true },
    storedAt: { type: Date, required: true },
  },
  { collection: 'browser_profiles', versionKey: false },
)

export const BrowserProfiles: Model<BrowserProfile> = mongoose.model<BrowserProfile>('BrowserProfile', schema)
