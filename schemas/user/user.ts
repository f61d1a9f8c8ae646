import mongoose, { type Model } from 'mongoose'
import { deriveId } from '../../core/ids.ts'
import { isDuplicate, trusted } from '../database.ts'

/** One end user of one app (docs/behaviour.md, User). */
export interface User {
  _id: string
  appId: string
  /** Any string chosen by the app; never interpreted. */
  userRef: string
  createdAt: Date
  /**
   * How often a deletion of everything of this user was begun; absent: never. A connect flow carries the number that it began with, and
   * creates nothing once it has changed (docs/architecture.md, idea 11).
   */
  generation?: number
  /** The deletion that raised it last, so that one which is taken up raises it once. */
  generationRaisedBy?: string
}

/** The number that a connect flow of this user carries from its beginning on. */
export const generationOf = ({ generation }: Pick<User, 'generation'>): number => generation ?? 0

const schema = new mongoose.Schema<User>(
  {
    _id: { type: String, required: true },
    appId: { type: String, required: true },
    userRef: { type: String, required: true },
    createdAt: { type: Date, required: true },
    generation: Number,
    generationRaisedBy: String,
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

/** Ends every connect flow of a user that has begun, wherever it is: none of them creates a connection after this. Returns the new number. */
export async function raiseGeneration({ userId, by }: { userId: string; by: string }): Promise<number> {
  await Users.updateOne(
    { _id: userId, generationRaisedBy: trusted({ $ne: by }) },
    { $inc: { generation: 1 }, $set: { generationRaisedBy: by } },
  )
  return presentGeneration({ userId })
}

/** The number that a connect flow of this user would begin with now. */
export async function presentGeneration({ userId }: { userId: string }): Promise<number> {
  const user = await Users.findById(userId).select({ generation: 1 }).lean<Pick<User, 'generation'>>()
  return generationOf(user ?? {})
}
