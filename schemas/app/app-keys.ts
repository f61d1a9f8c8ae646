import { DAY } from '../../core/clock.ts'
import { newApiKey } from '../../core/ids.ts'
import { trusted } from '../database.ts'
import { type ApiKey, type App, Apps } from './app.ts'
import { apiKeyRecord } from './apps.ts'

/** The API keys of an app, oldest first; null where there is no such app. */
export async function apiKeysOf(appId: string): Promise<ApiKey[] | null> {
  const app = await Apps.findById(appId).select({ apiKeys: 1 }).lean<Pick<App, 'apiKeys'>>()
  return app?.apiKeys ?? null
}

/** Keys of one app, revoked ones too: each request reads them. */
const KEY_LIMIT = 1_000
/** Where there is no room, keys make it that were revoked so long ago that nobody asks for them here. */
const SHOWN_REVOKED_MS = 90 * DAY

/** Gives an app a further key, which is shown this once, or says why not. */
export async function addApiKey({
  appId,
  now,
  ...more
}: {
  appId: string
  name: string
  createdBy: string
  now: Date
}): Promise<{ id: string; apiKey: string } | { not: 'app_not_found' | 'too_many_keys' }> {
  const apiKey = newApiKey()
  const record = apiKeyRecord({ key: apiKey, now, ...more })
  const add = async (): Promise<boolean> => {
    const room = { [`apiKeys.${KEY_LIMIT - 1}`]: trusted({ $exists: false }) }
    const change = { $push: { apiKeys: record }, $unset: { creation: 1 } }
    return (await Apps.updateOne({ _id: appId, ...room }, change)).matchedCount > 0
  }
  if (await add()) return { id: record.id, apiKey }
  const old = { revokedAt: { $lt: new Date(now.getTime() - SHOWN_REVOKED_MS) } }
  const { matchedCount } = await Apps.updateOne({ _id: appId }, { $pull: { apiKeys: old } })
  if (matchedCount === 0) return { not: 'app_not_found' }
  return (await add()) ? { id: record.id, apiKey } : { not: 'too_many_keys' }
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
