import jwt from 'jsonwebtoken'
import mongoose, { type Model } from 'mongoose'
import { HOUR, SECOND } from '../../core/clock.ts'
import type { Keyring } from '../../core/envelope.ts'
import { newId, sha256 } from '../../core/ids.ts'
import { takeOne, trusted } from '../database.ts'

/** A sign-in link that was sent and not used yet: its deletion is the sign-in, so that it happens once (docs/security.md, Secrets and tokens). */
interface SignIn {
  /** SHA-256 of the link's token; the token itself is kept nowhere in clear. */
  _id: string
  email: string
  /** Present where the link came with an invitation: it ends with it. */
  invitationId?: string
  createdAt: Date
  expiresAt: Date
}

/** docs/behaviour.md, Developer portal: a sign-in link works once and for an hour. */
export const SIGN_IN_MS = HOUR
/** Where the link of a mail leads; GET consumes nothing. */
const SIGN_IN_LINK_PATH = '/developers/sign-in/link'

const PURPOSE = 'portal-sign-in'

const schema = new mongoose.Schema<SignIn>(
  {
    _id: { type: String, required: true },
    email: { type: String, required: true },
    invitationId: String,
    createdAt: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
  },
  { collection: 'sign_ins', versionKey: false },
)
schema.index({ expiresAt: 1 }, { expireAfterSeconds: 0 })
schema.index({ invitationId: 1 }, { partialFilterExpression: { invitationId: { $exists: true } } })

export const SignIns: Model<SignIn> = mongoose.model<SignIn>('SignIn', schema)

/**
 * The keys of these links and of nothing else (docs/security.md, Secrets and tokens): the first signs, the others are of earlier master
 * keys and verify.
 */
export const signInSecrets = ({ keyring }: { keyring: Keyring }): string[] =>
  keyring.deriveAll(PURPOSE).map((key) => key.toString('base64'))

/** The address that a mail's link leads to. */
export const signInUrl = ({ baseUrl, token }: { baseUrl: string; token: string }): string =>
  `${baseUrl}${SIGN_IN_LINK_PATH}?token=${token}`

/** Writes a link down as pending, as a digest. */
export async function keepSignIn({
  token,
  email,
  invitationId,
  now,
  lifetimeMs = SIGN_IN_MS,
}: {
  token: string
  email: string
  invitationId?: string
  now: Date
  lifetimeMs?: number
}): Promise<void> {
  await SignIns.create({
    _id: sha256(token),
    email,
    ...(invitationId !== undefined && { invitationId }),
    createdAt: now,
    expiresAt: new Date(now.getTime() + lifetimeMs),
  })
}

/** Makes a pending sign-in link of the kind that passport-magic-link accepts. Returns its address, which is a secret. */
export async function createSignInUrl({
  email,
  invitationId,
  lifetimeMs = SIGN_IN_MS,
  keyring,
  baseUrl,
  now,
}: {
  email: string
  invitationId?: string
  lifetimeMs?: number
  keyring: Keyring
  baseUrl: string
  now: Date
}): Promise<string> {
  const token = jwt.sign({ user: { email, nonce: newId() } }, keyring.derive(PURPOSE).toString('base64'), {
    algorithm: 'HS256',
    expiresIn: lifetimeMs / SECOND,
  })
  await keepSignIn({ token, email, now, lifetimeMs, ...(invitationId !== undefined && { invitationId }) })
  return signInUrl({ baseUrl, token })
}

/** A link that can still be used, or null; consumes nothing. */
export const findPending = ({ token, now }: { token: string; now: Date }): Promise<SignIn | null> =>
  SignIns.findOne({ _id: sha256(token), expiresAt: trusted({ $gt: now }) }).lean<SignIn>()

/** Consumes a link; null where it is unknown, used or expired. Of parallel uses one gets it. */
export const consumeSignIn = ({ token, now }: { token: string; now: Date }): Promise<SignIn | null> =>
  takeOne(SignIns, { _id: sha256(token), expiresAt: trusted({ $gt: now }) })

/** The links of an invitation that was accepted last no longer than those that people ask for. */
export async function shortenSignInsOf({ invitationId, now }: { invitationId: string; now: Date }): Promise<void> {
  const expiresAt = new Date(now.getTime() + SIGN_IN_MS)
  await SignIns.updateMany({ invitationId, expiresAt: trusted({ $gt: expiresAt }) }, { $set: { expiresAt } })
}

/** The links of an invitation that was withdrawn or is sent again work no more. */
export async function endSignInsOf({ invitationId }: { invitationId: string }): Promise<void> {
  await SignIns.deleteMany({ invitationId })
}
