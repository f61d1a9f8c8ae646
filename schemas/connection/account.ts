import mongoose, { type Model } from 'mongoose'
import { type Claimable, claimFields } from '../claims.ts'
import { embedded } from '../embedded.ts'

/**
 * One provider account within one app. Its claim puts in order whatever moves the account between connections (connect, fold,
 * purge); its archive is what conversations belong to (docs/architecture.md, idea 6).
 */
export interface Account extends Claimable {
  /** accountId: derived with the app's key, so it is the same after every reconnect and tells nothing. */
  _id: string
  appId: string
  provider: string
  /** Absent when everything was purged: the next connect begins a new one. */
  archiveId?: string
  backfill: Backfill
  /** Counted up by each sync's write of `backfill`, and matched by it: whoever stalled does not write over what came after. */
  backfillRevision?: number
  /**
   * The connect that was admitted last. Until its command has ended its connection may come to be at any moment; after that it says
   * nothing: the account's connections do.
   */
  connecting?: { commandId: string; userId: string }
}

/**
 * How far the history was read: everything with an update time from `before` to `head`. Kept beside the archive, so that it is
 * resumed after reconnects too.
 */
export interface Backfill {
  /** Everything older than `before` was read as well. */
  done: boolean
  head?: Date
  before?: Date
  /** A look at what is new that was cut short: from `gap.before` to `gap.head` was read, from `head` to `gap.before` was not. */
  gap?: { head: Date; before: Date }
  /** What the provider says it has in all, for progress. */
  total?: number
  /** By how many the provider's total was more than what was stored when the history was complete: conversations that none can read. */
  absent?: number
  /** External ids of conversations whose answer could not be used: asked for again by the next sync. */
  unread?: string[]
}

const schema = new mongoose.Schema<Account>(
  {
    _id: { type: String, required: true },
    appId: { type: String, required: true },
    provider: { type: String, required: true },
    archiveId: String,
    backfill: {
      type: embedded({
        done: Boolean,
        head: Date,
        before: Date,
        gap: embedded({ head: Date, before: Date }),
        total: Number,
        absent: Number,
        unread: { type: [String], default: undefined },
      }),
      default: { done: false },
    },
    backfillRevision: Number,
    connecting: embedded({ commandId: String, userId: String }),
    ...claimFields,
  },
  { collection: 'accounts', versionKey: false },
)
/** Those that are held now, for operators. */
schema.index({ claimableAt: 1 }, { partialFilterExpression: { claimableAt: { $exists: true } } })

export const Accounts: Model<Account> = mongoose.model<Account>('Account', schema)
