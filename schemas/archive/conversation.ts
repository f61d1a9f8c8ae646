import mongoose, { type Model } from 'mongoose'

/**
 * One conversation of one archive (docs/behaviour.md, Conversation): all of it but its text, which is the body of its version
 * (conversation-body.ts), or lies in parts (conversation-part.ts) where it is large.
 */
export interface Conversation {
  _id: string
  archiveId: string
  /** The provider's id: `external_id`. */
  externalId: string
  title: string | null
  /** Last change on the provider's side; drives list ordering. Sorted as oldest when the provider gave none. */
  updateTime: Date | null
  firstMessageAt: Date | null
  /** The payload, in conversations that an earlier release stored and that have not changed since. */
  payload?: string | null
  /** Number of parts where the payload is large. */
  payloadParts?: number
  /** SHA-256 of title and payload: tells a change from a mere touch. */
  hash: string
  /** The same of the provider's own object. */
  rawParts?: number
  /** The version of those parts: it changes with the document, in one write. */
  partsVersion?: string
  /** The run that stored it last and what it did, so that a run's counts can be told after a crash. */
  runId: string
  change: 'inserted' | 'updated' | 'unchanged'
  storedAt: Date
}

const schema = new mongoose.Schema<Conversation>(
  {
    _id: { type: String, required: true },
    archiveId: { type: String, required: true },
    externalId: { type: String, required: true },
    title: { type: String, default: null },
    updateTime: { type: Date, default: null },
    firstMessageAt: { type: Date, default: null },
    payload: String,
    payloadParts: Number,
    hash: { type: String, required: true },
    rawParts: Number,
    partsVersion: String,
    runId: { type: String, required: true },
    change: { type: String, enum: ['inserted', 'updated', 'unchanged'], required: true },
    storedAt: { type: Date, required: true },
  },
  { collection: 'conversations', versionKey: false },
)
schema.index({ archiveId: 1, externalId: 1 }, { unique: true })
schema.index({ archiveId: 1, updateTime: -1, _id: -1 })
schema.index({ archiveId: 1, firstMessageAt: 1 })
schema.index({ archiveId: 1, runId: 1, change: 1 })

export const Conversations: Model<Conversation> = mongoose.model<Conversation>('Conversation', schema)

/** Whether a conversation is as new as an update, or newer: nobody can store that update any more. */
export const hasReached = (stored: Pick<Conversation, 'updateTime'>, updateTime: Date | null): boolean =>
  (stored.updateTime?.getTime() ?? 0) >= (updateTime?.getTime() ?? 0)
