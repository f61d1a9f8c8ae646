import mongoose, { type Model } from 'mongoose'
import { newId } from '../../core/ids.ts'
import { isDuplicate } from '../database.ts'

/** One end user of one app (docs/behaviour.md, User). */
export interface User {
  _id: string
  appId: string
  /** Any string chosen by the app; never interpreted. */
  userRef: string
  createdAt: Date
}

const schema = new mongoose.Schema<User>(
  {
    _id: { type: String, required: true },
    appId: { type: String, required: true },
    userRef: { type: String, required: true },
    createdAt: { type: Date, required: true },
  },
  { collection: 'users', versionKey: false },
)
schema.index({ appId: 1, userRef: 1 }, { unique: true })

export const Users: Model<User> = mongoose.model<User>('User', schema)

/** The user of (appId, userRef), created if missing; parallel calls answer the same one. */
export async function ensureUser({
  appId,
  userRef,
  now,
}: {
  appId: string
  userRef: string
  now: Date
}): Promise<User> {
  const ensure = () =>
    Users.findOneAndUpdate(
      { appId, userRef },
      { $setOnInsert: { _id: newId(), createdAt: now } },
      { upsert: true, returnDocument: 'after' },
    ).lean<User>()
  const user = await ensure().catch((error: unknown) => (isDuplicate(error) ? ensure() : Promise.reject(error)))
  if (!user) throw new Error('user was not created')
  return user
}
