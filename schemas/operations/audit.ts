import mongoose, { type Model } from 'mongoose'
import { DAY, SECOND } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { type Principal, principalField } from '../principal.ts'

/** Something that a person did which is no command: an app made or changed, a lease ended, a delivery replayed. Holds no secret. */
export interface AuditEntry {
  _id: string
  at: Date
  by: Principal
  /** `<thing>.<what was done>`, as in `app.created`. */
  action: string
  appId?: string
  /** Id of what it was done to. */
  target?: string
  /** What else is worth knowing: names of changed fields, counts. */
  details: Record<string, string | number | boolean | string[]>
}

/** Who did what is asked for long after: a year, and the month in which the question is put. */
const KEPT_S = (396 * DAY) / SECOND

const schema = new mongoose.Schema<AuditEntry>(
  {
    _id: { type: String, required: true },
    at: { type: Date, required: true },
    by: principalField,
    action: { type: String, required: true },
    appId: String,
    target: String,
    details: { type: mongoose.Schema.Types.Mixed, default: {} },
  },
  { collection: 'audit', versionKey: false, minimize: false },
)
schema.index({ at: 1 }, { expireAfterSeconds: KEPT_S })
schema.index({ at: -1 })
schema.index({ appId: 1, at: -1 })

export const AuditEntries: Model<AuditEntry> = mongoose.model<AuditEntry>('AuditEntry', schema)

/** Writes down who did what. */
export async function recordAudit({
  details = {},
  ...entry
}: Omit<AuditEntry, '_id' | 'details'> & { details?: AuditEntry['details'] }): Promise<void> {
  await AuditEntries.create({ _id: newId(), details, ...entry })
}
