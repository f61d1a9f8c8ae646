import mongoose, { type Model } from 'mongoose'
import { deriveId } from '../../core/ids.ts'
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
  const find = () => Users.findOne({ appId, userRef }).lean<User>()
  const known = await find()
  if (known) return known
  // Parallel first calls meet at the derived `_id`: those that meet at another unique index wait for each other in FerretDB, for seconds.
  const user: User = { _id: deriveId('user', appId, userRef), appId, userRef, createdAt: now }
  try {
    await Users.create(user)
    return user
  } catch (error) {
    const first = isDuplicate(error) ? await find() : null
    if (first) return first
    throw error
  }
}
