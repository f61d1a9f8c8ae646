import mongoose, { type Model } from 'mongoose'
import { DAY, HOUR } from '../../core/clock.ts'
import { type Keyring, seal, unseal, type WrappedKey } from '../../core/envelope.ts'
import { newId } from '../../core/ids.ts'
import { type Claimable, claimFields } from '../claims.ts'
import { embedded } from '../embedded.ts'
import { wake } from '../wakeups.ts'
import { wrappedKey } from '../wrapped-key.ts'
import type { MailContent } from './compose.ts'

type MailKind = 'sign-in' | 'invitation' | 'deprecation'

/** One mail on its way. What it says is sealed, since a sign-in link is a secret; the document goes when the mail is sent. */
export interface Mail extends Claimable {
  _id: string
  kind: MailKind
  /** The app that it is about, where it is about one. */
  appId?: string
  to: string
  /** Wraps the key of `sealed`; both are taken out when the mail is given up. */
  key?: WrappedKey
  /** JSON `MailContent`. */
  sealed?: Buffer
  state: 'waiting' | 'dropped'
  /** Each that failed. A claim is the beginning of an attempt, so `fence` counts them all. */
  failures: { at: Date; error: string }[]
  createdAt: Date
  /** Worth sending until then: a link in it works no longer. */
  uselessAt: Date
  /** A mail that was given up is shown to operators for a while. */
  expireAt?: Date
}

/** How long a mail that was given up stays visible. */
const KEPT_MS = 30 * DAY
const PURPOSE = 'mail'

const schema = new mongoose.Schema<Mail>(
  {
    _id: { type: String, required: true },
    kind: { type: String, required: true },
    appId: String,
    to: { type: String, required: true },
    key: wrappedKey,
    sealed: Buffer,
    state: { type: String, enum: ['waiting', 'dropped'], required: true },
    failures: { type: [embedded({ at: Date, error: String })], default: [] },
    createdAt: { type: Date, required: true },
    uselessAt: { type: Date, required: true },
    expireAt: Date,
    ...claimFields,
  },
  { collection: 'mails', versionKey: false },
)
schema.index({ claimableAt: 1 }, { partialFilterExpression: { claimableAt: { $exists: true } } })
schema.index({ createdAt: -1 })
/** Those that were dropped, for operators: few, so the index costs the others nothing. */
schema.index({ state: 1 }, { partialFilterExpression: { state: 'dropped' } })
schema.index({ expireAt: 1 }, { expireAfterSeconds: 0, partialFilterExpression: { expireAt: { $exists: true } } })

export const Mails: Model<Mail> = mongoose.model<Mail>('Mail', schema)

/** Writes a mail down; whichever actors process claims it sends it. */
export async function writeMail({
  kind,
  appId,
  to,
  content,
  keyring,
  now,
  usefulMs = HOUR,
}: {
  kind: MailKind
  appId?: string
  to: string
  content: MailContent
  keyring: Keyring
  now: Date
  /** How long it is worth sending. */
  usefulMs?: number
}): Promise<void> {
  const _id = newId()
  const { key, wrapped } = keyring.newDataKey()
  await Mails.create({
    _id,
    kind,
    ...(appId !== undefined && { appId }),
    to,
    key: wrapped,
    sealed: seal(key, { owner: _id, purpose: PURPOSE }, JSON.stringify(content)),
    state: 'waiting',
    failures: [],
    createdAt: now,
    uselessAt: new Date(now.getTime() + usefulMs),
    claimableAt: now,
    fence: 0,
  })
  wake('mails')
}

/** What a mail says. Throws where its master key is not configured, or it was given up. */
export function openMail({ _id, key, sealed }: Mail, { keyring }: { keyring: Keyring }): MailContent {
  if (!key || !sealed) throw new Error(`mail ${_id} was given up`)
  return JSON.parse(
    unseal(keyring.unwrap(key), { owner: _id, purpose: PURPOSE }, sealed).toString('utf8'),
  ) as MailContent
}

type Held = Pick<Mail, '_id' | 'fence'>

/** The mail was sent, or there is nobody to send it to. */
export async function forgetMail({ _id, fence }: Held): Promise<void> {
  await Mails.deleteMany({ _id, fence })
}

/** An attempt failed: the next one is due at `retryAt`, or the mail is given up and what it said is destroyed. */
export async function failMail({
  mail: { _id, fence },
  error,
  retryAt,
  now,
}: {
  mail: Held
  error: string
  retryAt: Date | undefined
  now: Date
}): Promise<void> {
  const failures = { at: now, error }
  await Mails.updateOne(
    { _id, fence },
    retryAt
      ? { $push: { failures }, $set: { claimableAt: retryAt }, $unset: { claimedBy: 1 } }
      : {
          $push: { failures },
          $set: { state: 'dropped', expireAt: new Date(now.getTime() + KEPT_MS) },
          $unset: { claimedBy: 1, claimableAt: 1, key: 1, sealed: 1 },
        },
  )
}
