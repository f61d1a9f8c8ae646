import mongoose, { type Model } from 'mongoose'
import { DAY, SECOND } from '../../core/clock.ts'
import type { WrappedKey } from '../../core/envelope.ts'
import type { Traceparent } from '../../core/tracing.ts'
import { type Claimable, claimFields } from '../claims.ts'
import { embedded } from '../embedded.ts'
import { type HasOutbox, outboxFields, toldOnly } from '../outbox.ts'
import { type Principal, principalField } from '../principal.ts'
import type { Device } from '../user/device.ts'
import { announceDue } from '../wakeups.ts'
import type { CommandFailure } from './failure.ts'

/** What each kind of command works on. Everything here is safe to keep: secrets are sealed. */
export interface CommandArguments {
  /** Creates the connection `connectionId` from a usable session (hosted page or native capture). */
  connect: {
    connectionId: string
    /** The lease that was handed over as this command: where a purge has ended it since, nothing comes of the command. */
    leaseId?: string
    /** The lease or capture that it came of, where the app wants to hear how that ended (`connect.ended`). */
    flowId?: string
    userId: string
    userRef: string
    provider: string
    capturedAt: Date
    /** The user's number when the flow began: nothing is created once it has changed. */
    generation: number
    key: WrappedKey
    /** JSON `Credential`, sealed with `key`; its `account` is what the provider said. */
    credential: Buffer
    /** JSON of Playwright's storage state, sealed with `key`. */
    profile?: Buffer
    device?: Device
    /** Keyed hash of the account's e-mail, where the e-mail itself was not kept (native capture). */
    emailHash?: string
  }
  /** Deletes one connection (`connectionId`) or everything of a user (`userId`). */
  purge: { connectionId?: string; userId?: string; userRef: string }
  /** Reads an account export that was uploaded (GridFS bucket `exports`, file `fileId`). */
  ingest: { connectionId: string; fileId: string }
  /** Lets a sync begin at once. */
  'sync-now': { connectionId: string }
  /** Sent `test.event` to the app's webhook: done as it is written, since it changes nothing but the outbox that it has itself. */
  'test-event': { userRef: string; message: string }
  /** Deletes once more whatever a writer that had already lost its claim may have left of what a purge deleted. */
  sweep: { archiveIds: string[]; connectionIds: string[]; userId?: string; before: Date }
}

export type CommandKind = keyof CommandArguments

/** What an actor carries out. */
export type ActorsCommandKind = Exclude<CommandKind, 'test-event'>

export interface CommandResults {
  connect: { connectionId: string }
  purge: { connectionsRevoked: number; conversationsDeleted: number; deletedAt: string }
  ingest: { inserted: number; updated: number; unchanged: number; total: number }
  'sync-now': { accepted: boolean }
  'test-event': { deliveryId: string | null }
  sweep: { conversationsDeleted: number }
}

/**
 * A durable intent (docs/architecture.md, idea 1). http and browser-farm write it; an actor carries it out; whoever waits watches the document.
 * `claimableAt` exists until it is done.
 */
export interface Command<K extends CommandKind = CommandKind> extends Claimable, HasOutbox {
  _id: string
  kind: K
  appId: string
  /** What it works on: a connection id, `user:<id>`, or an app id. One open command per (kind, target) where `open` is set. */
  target: string
  by: Principal
  args: CommandArguments[K]
  state: 'waiting' | 'done' | 'failed'
  result?: CommandResults[K]
  failure?: CommandFailure
  crashes: number
  createdAt: Date
  doneAt?: Date
  /** The trace of whoever asked. */
  traceparent?: Traceparent
}

/** How long what was asked for and what became of it stays visible once it is done; one that is not done has no `doneAt`, and stays. */
const KEPT_S = (90 * DAY) / SECOND

const schema = new mongoose.Schema<Command>(
  {
    _id: { type: String, required: true },
    kind: { type: String, required: true },
    appId: { type: String, required: true },
    target: { type: String, required: true },
    by: principalField,
    args: { type: mongoose.Schema.Types.Mixed, required: true },
    state: { type: String, enum: ['waiting', 'done', 'failed'], required: true, default: 'waiting' },
    result: mongoose.Schema.Types.Mixed,
    failure: embedded({ code: String, values: mongoose.Schema.Types.Mixed, message: String }),
    crashes: { type: Number, required: true, default: 0 },
    createdAt: { type: Date, required: true },
    doneAt: Date,
    traceparent: String,
    ...claimFields,
    ...outboxFields,
  },
  { collection: 'commands', versionKey: false },
)
announceDue(schema, { claimableAt: 'commands', outboxAt: 'outboxes', doneAt: 'answers' })
/** Each kind of work is claimed by itself: a backlog of one hides no other. */
schema.index({ kind: 1, claimableAt: 1 }, { partialFilterExpression: { claimableAt: { $exists: true } } })
schema.index({ claimableAt: 1 }, { partialFilterExpression: { claimableAt: { $exists: true } } })
schema.index({ outboxAt: 1 }, { partialFilterExpression: { outboxAt: { $exists: true } } })
schema.index({ doneAt: 1 }, toldOnly({ name: 'done_and_told', afterSeconds: KEPT_S }))
schema.index({ appId: 1, createdAt: -1 })
schema.index({ target: 1, kind: 1, createdAt: -1 })

export const Commands: Model<Command> = mongoose.model<Command>('Command', schema)

/** Where a command's target is a whole user. */
export const userTarget = (userId: string): string => `user:${userId}`
