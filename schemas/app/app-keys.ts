import { newApiKey } from '../../core/ids.ts'
import { trusted } from '../database.ts'
import { type ApiKey, type App, Apps } from './app.ts'
import { apiKeyRecord } from './apps.ts'

/** The API keys of an app, oldest first; null where there is no such app. */
export async function apiKeysOf(appId: string): Promise<ApiKey[] | null> {
  const app = await Apps.findById(appId).select({ apiKeys: 1 }).lean<Pick<App, 'apiKeys'>>()
  return app?.apiKeys ?? null
}

/** Gives an app a further key, which is shown this once; null where there is no such app. */
export async function addApiKey({
  appId,
  ...more
}: {
  appId: string
  name: string
  createdBy: string
  now: Date
}): Promise<{ id: string; apiKey: string } | null> {
  const apiKey = newApiKey()
  const record = apiKeyRecord({ key: apiKey, ...more })
  const { matchedCount } = await Apps.updateOne({ _id: appId }, { $push: { apiKeys: record }, $unset: { creation: 1 } })
  return matchedCount > 0 ? { id: record.id, apiKey } : null
}

/** `unchanged`: it was revoked before. */
export async function revokeApiKey({
  appId,
  id,
  now,
}: {
  appId: string
  id: string
  now: Date
}): Promise<'revoked' | 'unchanged' | 'unknown'> {
  const { matchedCount } = await Apps.updateOne(
    { _id: appId, apiKeys: trusted({ $elemMatch: { id, revokedAt: { $exists: false } } }) },
    { $set: { 'apiKeys.$.revokedAt': now } },
  )
  if (matchedCount > 0) return 'revoked'
  return (await Apps.exists({ _id: appId, 'apiKeys.id': id })) ? 'unchanged' : 'unknown'
}
