import mongoose, { type Model } from 'mongoose'
import type { Keyring, WrappedKey } from '../../core/envelope.ts'
import { unlessDuplicate } from '../database.ts'
import { wrappedKey } from '../wrapped-key.ts'

/** A key that all processes share, for names that have to stay the same while the master key is exchanged. */
interface ServiceKey {
  /** What it is for. */
  _id: string
  key: WrappedKey
}

const schema = new mongoose.Schema<ServiceKey>(
  { _id: { type: String, required: true }, key: { type: wrappedKey, required: true } },
  { collection: 'service_keys', versionKey: false },
)

export const ServiceKeys: Model<ServiceKey> = mongoose.model<ServiceKey>('ServiceKey', schema)

/** The key for one purpose, made when it is asked for first, and anew where the master key that wraps it is configured no more. */
export async function serviceKey({ purpose: _id, keyring }: { purpose: string; keyring: Keyring }): Promise<Buffer> {
  const { wrapped } = keyring.newDataKey()
  await ServiceKeys.updateOne({ _id }, { $setOnInsert: { key: wrapped } }, { upsert: true }).catch(unlessDuplicate)
  const present = await ServiceKeys.findById(_id).lean<ServiceKey>()
  if (!present) throw new Error(`the key ${_id} was taken away`)
  const { key } = present
  try {
    return keyring.unwrap(key)
  } catch {
    await ServiceKeys.updateOne({ _id, 'key.masterKeyId': key.masterKeyId }, { $set: { key: wrapped } })
    return serviceKey({ purpose: _id, keyring })
  }
}
