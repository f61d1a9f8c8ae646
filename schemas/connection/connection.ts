import mongoose, { type Model } from 'mongoose'
import type { WrappedKey } from '../../core/envelope.ts'
import { type Claimable, claimFields } from '../claims.ts'
import { embedded } from '../embedded.ts'
import { type HasOutbox, outboxFields } from '../outbox.ts'
import type { Device } from '../user/device.ts'
import { announceDue } from '../wakeups.ts'
import { wrappedKey } from '../wrapped-key.ts'

export type ConnectionStatus = 'active' | 'needs_reauth' | 'revoked'

/** A connection that is in use, or will be once its user has connected again. */
export const LIVE_STATUSES: readonly ConnectionStatus[] = ['active', 'needs_reauth']

/** The sync that is under way or was the last one. */
interface SyncState {
  /** Set while a run has not reported: conversations that it stored carry it, so its counts survive a crash. */
  runId?: string
  /** Looked at by this run and left as it was. */
  unchanged: number
  /** The present interval (service ms, unscaled), doubled after every sync that found nothing; absent until a complete sync after news. */
  intervalMs?: number
  /** How the last run, a sync or an ingestion, ended and why, for operators. */
  outcome?: string
  /** How the last syncs ended, the oldest first, for operators. */
  history?: SyncEnd[]
}

/** What the purge that revoked a connection has done so far: it survives a crash. */
interface ConnectionPurge {
  commandId: string
  /** What is to be deleted; absent where the archive is another connection's by now. */
  archiveId?: string
  /** Absent until it was counted, before anything was deleted. */
  conversationsDeleted?: number
  /** Nothing of it is left. */
  finishedAt?: Date
}

/** A state of an archive that its holder is at work on. */
interface SettledArchive {
  fence: number
  batches: number
}

interface SyncEnd {
  at: Date
  outcome: string
}

/** A few days of an account in use, a month of one at rest; the document is read with every claim. */
export const SYNCS_KEPT = 15

/** One connected provider account (docs/behaviour.md, Connection). A revoked one has no credential, key or archive. */
export interface Connection extends Claimable, HasOutbox {
  _id: string
  appId: string
  userId: string
  userRef: string
  provider: string
  status: ConnectionStatus
  capturedAt: Date
  lastSyncAt?: Date
  /**
   * After how many batches of which holder nothing is being stored in the archive; absent while a batch is. Says nothing where nobody holds the
   * connection.
   */
  settled?: SettledArchive
  /** Until its first sync has ended, however it ended: that one goes before whatever else is due. */
  awaitsFirstSync?: true
  accountId: string
  archiveId?: string
  /** Wraps everything that belongs to this connection; destroying it is the deletion. */
  key?: WrappedKey
  /** The archive's own key, wrapped under `key`: a fold hands it over without touching what it encrypts. */
  archiveKey?: Buffer
  /** JSON `Credential`, sealed with `key`, purpose `credential`. */
  credential?: Buffer
  /** Keyed hash of the account's e-mail. */
  emailHash?: string
  device?: Device
  /** Connections that this one was folded from. */
  replaces: string[]
  sync: SyncState
  revokedAt?: Date
  purge?: ConnectionPurge
  /** The user's number when the flow that created it began. */
  generation?: number
  /** Crashes in a row; five and it is quarantined until an operator looks. */
  crashes: number
  quarantinedAt?: Date
}

const schema = new mongoose.Schema<Connection>(
  {
    _id: { type: String, required: true },
    appId: { type: String, required: true },
    userId: { type: String, required: true },
    userRef: { type: String, required: true },
    provider: { type: String, required: true },
    status: { type: String, enum: ['active', 'needs_reauth', 'revoked'], required: true },
    capturedAt: { type: Date, required: true },
    lastSyncAt: Date,
    settled: embedded({ fence: Number, batches: Number }),
    awaitsFirstSync: Boolean,
    accountId: { type: String, required: true },
    archiveId: String,
    key: wrappedKey,
    archiveKey: Buffer,
    credential: Buffer,
    emailHash: String,
    device: embedded({ platform: String, osVersion: String, sdkVersion: String, model: String, appVersion: String }),
    replaces: { type: [String], default: [] },
    sync: {
      type: embedded({
        runId: String,
        unchanged: Number,
        intervalMs: Number,
        outcome: String,
        history: { type: [embedded({ at: Date, outcome: String })], default: undefined },
      }),
      default: { unchanged: 0 },
    },
    revokedAt: Date,
    purge: embedded({ commandId: String, archiveId: String, conversationsDeleted: Number, finishedAt: Date }),
    generation: Number,
    crashes: { type: Number, required: true, default: 0 },
    quarantinedAt: Date,
    ...claimFields,
    ...outboxFields,
  },
  { collection: 'connections', versionKey: false },
)
announceDue(schema, { claimableAt: 'connections', outboxAt: 'outboxes' })
/**
 * As a deletion of everything of a user finds them, and as operators see them. Named where a status is asked for too: a planner that guesses
 * takes the index of that as well, and reads through every connection that is in use.
 */
export const OF_USER = { userId: 1, capturedAt: -1 } as const
schema.index(OF_USER)
/** As the API lists them; `_id` puts those of one moment in order. */
schema.index({ appId: 1, userRef: 1, capturedAt: -1, _id: -1 })
/** Named where an account's connections are put in order, for the same reason. */
export const OF_ACCOUNT = { accountId: 1, status: 1 } as const
schema.index(OF_ACCOUNT)
/** What operators look at: the newest, and those that need them. */
schema.index({ capturedAt: -1 })
schema.index({ status: 1, capturedAt: -1 })
schema.index({ quarantinedAt: -1 }, { partialFilterExpression: { quarantinedAt: { $exists: true } } })
schema.index({ claimableAt: 1 }, { partialFilterExpression: { claimableAt: { $exists: true } } })
schema.index(
  { awaitsFirstSync: 1, claimableAt: 1 },
  { partialFilterExpression: { awaitsFirstSync: { $exists: true } } },
)
schema.index({ outboxAt: 1 }, { partialFilterExpression: { outboxAt: { $exists: true } } })

export const Connections: Model<Connection> = mongoose.model<Connection>('Connection', schema)
