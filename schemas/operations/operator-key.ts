import mongoose, { type Model } from 'mongoose'
import { isOperatorKey, newId, newOperatorKey, sha256 } from '../../core/ids.ts'
import type { OperatorRole } from '../../wire/endpoint.ts'
import { trusted } from '../database.ts'
import { type Principal, principalField } from '../principal.ts'

/** A key of an operator beside the one that the service is set up with: named, with a role, revocable. */
export interface OperatorKey {
  _id: string
  name: string
  role: OperatorRole
  /** SHA-256 of the key; the key itself is shown once and kept nowhere. */
  digest: string
  /** Its last characters, so that people can tell keys apart. */
  hint: string
  createdAt: Date
  by: Principal
  revokedAt?: Date
}

const HINT_LENGTH = 4

const schema = new mongoose.Schema<OperatorKey>(
  {
    _id: { type: String, required: true },
    name: { type: String, required: true },
    role: { type: String, required: true },
    digest: { type: String, required: true },
    hint: { type: String, required: true },
    createdAt: { type: Date, required: true },
    by: principalField,
    revokedAt: Date,
  },
  { collection: 'operator_keys', versionKey: false },
)
schema.index({ digest: 1 }, { unique: true })

export const OperatorKeys: Model<OperatorKey> = mongoose.model<OperatorKey>('OperatorKey', schema)

/** Makes a key, which is shown this once. */
export async function createOperatorKey({
  name,
  role,
  by,
  now,
}: Pick<OperatorKey, 'name' | 'role' | 'by'> & { now: Date }): Promise<{ id: string; key: string }> {
  const key = newOperatorKey()
  const id = newId()
  const hint = key.slice(-HINT_LENGTH)
  await OperatorKeys.create({ _id: id, name, role, digest: sha256(key), hint, createdAt: now, by })
  return { id, key }
}

/** The key that a credential is; null where it is none, or was revoked. A mistyped one costs no database read. */
export async function findOperatorKey(credential: string): Promise<OperatorKey | null> {
  if (!isOperatorKey(credential)) return null
  return OperatorKeys.findOne({
    digest: sha256(credential),
    revokedAt: trusted({ $exists: false }),
  }).lean<OperatorKey>()
}

/** `unchanged`: it was revoked before. */
export async function revokeOperatorKey({
  id,
  now,
}: {
  id: string
  now: Date
}): Promise<'revoked' | 'unchanged' | 'unknown'> {
  const { matchedCount } = await OperatorKeys.updateOne(
    { _id: id, revokedAt: trusted({ $exists: false }) },
    { $set: { revokedAt: now } },
  )
  if (matchedCount > 0) return 'revoked'
  return (await OperatorKeys.exists({ _id: id })) ? 'unchanged' : 'unknown'
}
