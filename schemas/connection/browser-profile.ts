import mongoose, { type Model } from 'mongoose'
import { trusted } from '../database.ts'
import { Connections, LIVE_STATUSES } from './connection.ts'

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

/**
 * Stores what the browser of a connection remembered, for as long as the connection is there: whatever a deletion did meanwhile, none
 * of it is left.
 */
export async function storeBrowserProfile({
  connectionId,
  sealed,
  now,
}: {
  connectionId: string
  sealed: Buffer
  now: Date
}): Promise<void> {
  await BrowserProfiles.updateOne({ _id: connectionId }, { $set: { sealed, storedAt: now } }, { upsert: true })
  const isThere = await Connections.exists({ _id: connectionId, status: trusted({ $in: LIVE_STATUSES }) })
  if (!isThere) await deleteBrowserProfile({ connectionId })
}

/** Deletes what the hosted browser of a connection remembered. */
export async function deleteBrowserProfile({ connectionId }: { connectionId: string }): Promise<void> {
  await BrowserProfiles.deleteMany({ _id: connectionId })
}
