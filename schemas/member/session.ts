import mongoose, { type Model } from 'mongoose'
import { DAY, HOUR, MINUTE } from '../../core/clock.ts'
import { newSecret, sha256 } from '../../core/ids.ts'
import { trusted } from '../database.ts'

/** Somebody who is signed in to the portal in one browser. */
interface PortalSession {
  /** SHA-256 of the cookie; the cookie itself is kept nowhere. */
  _id: string
  email: string
  createdAt: Date
  seenAt: Date
  /** The earlier of twelve hours without a request and seven days in all. */
  expiresAt: Date
}

const IDLE_MS = 12 * HOUR
const LONGEST_MS = 7 * DAY
/** A visit is written down as seen this often at most: a page costs no write. */
const SEEN_EVERY_MS = MINUTE

const schema = new mongoose.Schema<PortalSession>(
  {
    _id: { type: String, required: true },
    email: { type: String, required: true },
    createdAt: { type: Date, required: true },
    seenAt: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'portal_sessions', versionKey: false },
)
schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
schema.index({ email: 1 })

export const PortalSessions: Model<PortalSession> = mongoose.model<PortalSession>('PortalSession', schema)

const expiry = ({ createdAt, now }: { createdAt: Date; now: Date }): Date =>
  new Date(Math.min(now.getTime() + IDLE_MS, createdAt.getTime() + LONGEST_MS))

/** Begins a visit under an id that nobody has seen before. Returns the cookie's value. */
export async function beginSession({ email, now }: { email: string; now: Date }): Promise<string> {
  const cookie = newSecret()
  await PortalSessions.create({
    _id: sha256(cookie),
    email,
    createdAt: now,
    seenAt: now,
    expiresAt: expiry({ createdAt: now, now }),
  })
  return cookie
}

/** The visit that a cookie stands for, or null; a request prolongs it. */
export async function findSession({ cookie, now }: { cookie: string; now: Date }): Promise<PortalSession | null> {
  const session = await PortalSessions.findOne({
    _id: sha256(cookie),
    expiresAt: trusted({ $gt: now }),
  }).lean<PortalSession>()
  if (session && now.getTime() - session.seenAt.getTime() >= SEEN_EVERY_MS) {
    await PortalSessions.updateOne(
      { _id: session._id },
      { $set: { seenAt: now, expiresAt: expiry({ createdAt: session.createdAt, now }) } },
    )
  }
  return session
}

export async function endSession({ cookie }: { cookie: string }): Promise<void> {
  await PortalSessions.deleteMany({ _id: sha256(cookie) })
}

/** Signs somebody out in every browser. */
export async function endSessionsOf({ email }: { email: string }): Promise<void> {
  await PortalSessions.deleteMany({ email })
}
