import mongoose, { type Model } from 'mongoose'
import { DAY, SECOND } from '../../core/clock.ts'
import type { WrappedKey } from '../../core/envelope.ts'
import type { Traceparent } from '../../core/tracing.ts'
import type { FlowReason, ProviderTrouble } from '../../wire/flow-ends.ts'
import type { PageState } from '../../wire/stream.ts'
import { type Claimable, claimFields } from '../claims.ts'
import type { CommandArguments } from '../command/command.ts'
import { embedded } from '../embedded.ts'
import { type HasOutbox, outboxFields, toldOnly } from '../outbox.ts'
import { announceDue } from '../wakeups.ts'
import { wrappedKey } from '../wrapped-key.ts'

/** CSS pixels of the remote screen and how it presents itself. */
export interface Viewport {
  width: number
  height: number
  deviceScaleFactor: number
  mobile: boolean
}

/**
 * As the page's `data-state` (docs/behaviour.md, Hosted pages); `parked` is a flow that has no browser and waits for its visitor, `released`
 * one that ended before anything came of it.
 */
type LeaseState = PageState | 'parked' | 'released'

/** Why a flow has given its browser up: nobody watched it, or the provider's page did not open. */
export type ParkedFor = 'away' | ProviderTrouble

/**
 * A browser for one connect flow (docs/architecture.md, idea 9). http asks for it; the farm node that has room claims it and renews the claim
 * while its context lives. `claimableAt` exists until the flow has ended.
 */
export interface Lease extends Claimable, HasOutbox {
  _id: string
  appId: string
  userId: string
  userRef: string
  /** The user's number when the flow began. */
  generation: number
  provider: string
  viewport: Viewport
  state: LeaseState
  /** Why it ended without a connection. */
  failure?: FlowReason
  /** The app hears of its end (`connect.ended`). */
  tellsEnd?: boolean
  /** While it is `parked`: until its hour is over, nobody claims it before its visitor is back. */
  parkedFor?: ParkedFor
  /** What a browser that was given up remembered and where it stood (JSON `Place`), sealed with a key of this lease's own. */
  place?: { key: WrappedKey; sealed: Buffer }
  /** Its visitor came back to it: the next browser is no replacement for one that was lost. */
  resumed?: boolean
  /** The page that watches it, and when it went without another one coming. */
  viewer?: string
  leftAt?: Date
  /** Internal address of the node that holds it: `ws://host:port`. */
  nodeUrl?: string
  nodeId?: string
  /** A page shows it now; as its holder last wrote. */
  viewerPresent?: boolean
  /**
   * What its session was handed over as: written by its holder, fenced, before the command itself. From then on the flow ends as that
   * command does, whichever node is left to write it.
   */
  handOver?: {
    commandId: string
    /** Until the command is written. Secrets in it are sealed. */
    args?: CommandArguments['connect']
  }
  /** The connection that came of it. */
  connectionId?: string
  /** Someone asked for it to end: the visitor, an operator, a purge. */
  releaseRequestedAt?: Date
  createdAt: Date
  /** docs/behaviour.md, Connect flow: all of it has to happen within one hour. */
  expiresAt: Date
  endedAt?: Date
  /** The trace of the visit that began it. */
  traceparent?: Traceparent
}

/** How long a flow stays visible once it has ended; one that has not has no `endedAt`, and stays. */
const KEPT_S = (30 * DAY) / SECOND

const schema = new mongoose.Schema<Lease>(
  {
    _id: { type: String, required: true },
    appId: { type: String, required: true },
    userId: { type: String, required: true },
    userRef: { type: String, required: true },
    generation: { type: Number, default: 0 },
    provider: { type: String, required: true },
    viewport: {
      type: embedded({ width: Number, height: Number, deviceScaleFactor: Number, mobile: Boolean }),
      required: true,
    },
    state: { type: String, required: true },
    failure: String,
    tellsEnd: Boolean,
    parkedFor: String,
    place: embedded({ key: wrappedKey, sealed: Buffer }),
    resumed: Boolean,
    viewer: String,
    leftAt: Date,
    nodeUrl: String,
    nodeId: String,
    viewerPresent: Boolean,
    handOver: embedded({ commandId: String, args: mongoose.Schema.Types.Mixed }),
    connectionId: String,
    releaseRequestedAt: Date,
    createdAt: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
    endedAt: Date,
    traceparent: String,
    ...claimFields,
    ...outboxFields,
  },
  { collection: 'leases', versionKey: false },
)
announceDue(schema, { outboxAt: 'outboxes', claimableAt: 'leases', endedAt: 'flows' })
schema.index({ outboxAt: 1 }, { partialFilterExpression: { outboxAt: { $exists: true } } })
schema.index({ claimableAt: 1 }, { partialFilterExpression: { claimableAt: { $exists: true } } })
schema.index({ endedAt: 1 }, toldOnly({ name: 'ended_and_told', afterSeconds: KEPT_S }))
schema.index({ userId: 1, createdAt: -1 })
schema.index({ createdAt: -1 })

export const Leases: Model<Lease> = mongoose.model<Lease>('Lease', schema)
