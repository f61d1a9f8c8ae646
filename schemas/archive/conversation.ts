import mongoose, { type Model } from 'mongoose'

/** One conversation of one archive (docs/behaviour.md, Conversation). */
export interface Conversation {
  _id: string
  archiveId: string
  /** The provider's id: `external_id`. */
  externalId: string
  title: string | null
  /** Last change on the provider's side; drives list ordering. Sorted as oldest when the provider gave none. */
  updateTime: Date | null
  firstMessageAt: Date | null
  /** The `payload` (docs/behaviour.md, Conversation) as the JSON text that the API answers, or null where it lies in parts. */
  payload: string | null
  /** Number of parts where the payload is larger than a document may hold (conversation_parts). */
  payloadParts?: number
  /** SHA-256 of title and payload: tells a change from a mere touch. */
  hash: string
  /** The provider's own object, gzip; kept internally, never answered. Absent where it lies in parts. */
  raw?: Buffer
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
    payload: { type: String, default: null },
    payloadParts: Number,
    hash: { type: String, required: true },
    raw: Buffer,
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
