import mongoose, { type Model } from 'mongoose'
import type { WrappedKey } from '../../core/envelope.ts'
import { embedded } from '../embedded.ts'
import { wrappedKey } from '../wrapped-key.ts'

/** A secret of an app: encrypted with the app's key; valid until `expiresAt`, which is set when it was rotated. */
export interface AppSecret {
  id: string
  sealed: Buffer
  /** SHA-256, kept for app secrets only: they may still be used as a Bearer token (deprecated). */
  digest?: string
  createdAt: Date
  expiresAt?: Date
}

export interface ApiKey {
  id: string
  name: string
  /** SHA-256 of the key; the key itself is shown once and kept nowhere. */
  digest: string
  /** Its last characters, so that people can tell keys apart. */
  hint: string
  createdAt: Date
  createdBy: string
  /** To the hour. */
  lastUsedAt?: Date
  revokedAt?: Date
}

export interface App {
  /** appId */
  _id: string
  name: string
  logoUrl?: string
  /** Hex, as in `#3355ff`. */
  primaryColor?: string
  contactEmail: string
  webhookUrl?: string
  /** Events that were discarded because there was no webhook URL, and when the last one was. */
  discarded?: { events: number; at: Date }
  /** Wraps this app's secrets and the key that account ids are derived with. */
  key: WrappedKey
  /** Newest first. */
  linkSecrets: AppSecret[]
  /** Newest first; empty: webhooks carry no signature. */
  webhookSecrets: AppSecret[]
  apiKeys: ApiKey[]
  requestsPerMinute: number
  /** When the app secret was last used as a Bearer token (deprecated), to the hour. */
  bearerSecretUsedAt?: Date
  /** The app is sent `connect.ended`; absent: it is not. */
  connectEndedEvents?: boolean
  /** Requests counted in the minute (Unix minutes) that is named. */
  rate: { minute: number; count: number }
  createdAt: Date
  /** Absent once it is certain that somebody saw the secrets that it was made with (http/actions/apps.ts). */
  creation?: {
    /** Names the request that made it. */
    attempt: string
    /** The answer with them has not gone out yet. */
    unanswered?: boolean
    /** SHA-256 of the request's `Idempotency-Key`. */
    keyDigest?: string
  }
}

/** docs/behaviour.md, Limits. An operator may raise it for one app. */
const REQUESTS_PER_MINUTE = 60

const secret = embedded({ id: String, sealed: Buffer, digest: String, createdAt: Date, expiresAt: Date })
const apiKey = embedded({
  id: String,
  name: String,
  digest: String,
  hint: String,
  createdAt: Date,
  createdBy: String,
  lastUsedAt: Date,
  revokedAt: Date,
})

const schema = new mongoose.Schema<App>(
  {
    _id: { type: String, required: true },
    name: { type: String, required: true },
    logoUrl: String,
    primaryColor: String,
    contactEmail: { type: String, required: true },
    webhookUrl: String,
    discarded: embedded({ events: Number, at: Date }),
    key: { type: wrappedKey, required: true },
    linkSecrets: [secret],
    webhookSecrets: [secret],
    apiKeys: [apiKey],
    requestsPerMinute: { type: Number, required: true, default: REQUESTS_PER_MINUTE },
    bearerSecretUsedAt: Date,
    connectEndedEvents: Boolean,
    rate: { type: embedded({ minute: Number, count: Number }), default: { minute: 0, count: 0 } },
    createdAt: { type: Date, required: true },
    creation: embedded({ attempt: String, unanswered: Boolean, keyDigest: String }),
  },
  { collection: 'apps', versionKey: false },
)
schema.index({ 'apiKeys.digest': 1 })
schema.index({ 'linkSecrets.digest': 1 })

export const Apps: Model<App> = mongoose.model<App>('App', schema)
