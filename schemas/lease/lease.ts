import mongoose, { type Model } from 'mongoose'
import { DAY, SECOND } from '../../core/clock.ts'
import type { PageState } from '../../wire/stream.ts'
import { type Claimable, claimFields } from '../claims.ts'
import type { CommandArguments } from '../command/command.ts'
import { embedded } from '../embedded.ts'

/** CSS pixels of the remote screen and how it presents itself. */
export interface Viewport {
  width: number
  height: number
  deviceScaleFactor: number
  mobile: boolean
}

/** As the page's `data-state` (docs/behaviour.md, Hosted pages); `released` is a flow that ended without either. */
type LeaseState = PageState | 'released'

export const FINAL_LEASE_STATES: readonly LeaseState[] = ['connected', 'failed', 'released']

/**
 * A browser for one connect flow (docs/architecture.md, idea 9). http asks for it; the farm node that has room claims it and renews the claim
 * while its context lives. `claimableAt` exists until the flow has ended.
 */
export interface Lease extends Claimable {
  _id: string
  appId: string
  userId: string
  userRef: string
  /** The user's number when the flow began. */
  generation: number
  provider: string
  viewport: Viewport
  state: LeaseState
  /** What went wrong, as told to the visitor. */
  failure?: string
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
    nodeUrl: String,
    nodeId: String,
    viewerPresent: Boolean,
    handOver: embedded({ commandId: String, args: mongoose.Schema.Types.Mixed }),
    connectionId: String,
    releaseRequestedAt: Date,
    createdAt: { type: Date, required: true },
    expiresAt: { type: Date, required: true },
    endedAt: Date,
    ...claimFields,
  },
  { collection: 'leases', versionKey: false },
)
schema.index({ claimableAt: 1 }, { partialFilterExpression: { claimableAt: { $exists: true } } })
schema.index({ endedAt: 1 }, { expireAfterSeconds: KEPT_S })
schema.index({ userId: 1, createdAt: -1 })
schema.index({ createdAt: -1 })

export const Leases: Model<Lease> = mongoose.model<Lease>('Lease', schema)
