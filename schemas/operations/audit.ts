import mongoose, { type Model } from 'mongoose'
import { DAY, SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { answeredWithin } from '../database.ts'
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

type NewEntry = Omit<AuditEntry, '_id' | 'details'> & { details?: AuditEntry['details'] }

/** Writes down who did what. */
export async function recordAudit({ details = {}, ...entry }: NewEntry): Promise<void> {
  await AuditEntries.create({ _id: newId(), details, ...entry })
}

/** Whoever asked is answered within 5 s where the database is silent (docs/security.md, Reliability). */
const WRITE_MS = 4 * SECOND

/** What an entry says until the end of its action is known, and for good where the process was killed before that. */
const UNCONFIRMED = { outcome: 'unconfirmed' }

/**
 * Does something that has to be found in the audit trail. Its entry is written before: a process that is killed in between leaves an entry too many, never
 * one too few. It is taken back where nothing was changed: `work` throws a `ServiceError` below 500, or `outcome` returns null.
 */
export async function audited<T>(
  { details = {}, ...entry }: NewEntry,
  work: () => Promise<T>,
  /** What is known only afterwards. */
  outcome: (result: T) => Partial<Pick<AuditEntry, 'target' | 'details'>> | null = () => ({}),
): Promise<T> {
  const _id = newId()
  await answeredWithin(WRITE_MS, AuditEntries.create({ _id, ...entry, details: { ...details, ...UNCONFIRMED } }))
  let result: T
  try {
    result = await work()
  } catch (error) {
    if (error instanceof ServiceError && error.status < 500) await AuditEntries.deleteMany({ _id })
    throw error
  }
  const known = outcome(result)
  if (known === null) await AuditEntries.deleteMany({ _id })
  else await AuditEntries.updateOne({ _id }, { $set: { details, ...known } })
  return result
}
