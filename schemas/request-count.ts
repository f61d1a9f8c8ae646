import { MINUTE } from '../core/clock.ts'
import { isApiKey, sha256 } from '../core/ids.ts'
import { type ApiKey, type App, Apps } from './app.ts'
import type { Asker } from './command.ts'

/** An app that showed its credentials. */
export interface Caller {
  appId: string
  by: Asker
  requestsPerMinute: number
  /** Requests of the minute (Unix minutes), this one included where it was counted. */
  rate: { minute: number; count: number }
}

type CallerFields = Pick<App, '_id' | 'requestsPerMinute' | 'rate' | 'apiKeys'>

const API_KEY_PREFIX = 'ccs_'
/** No credential of ours is longer. */
const LONGEST_CREDENTIAL = 512

const PROJECTION = { requestsPerMinute: 1, rate: 1, 'apiKeys.id': 1, 'apiKeys.digest': 1 } as const

/**
 * The app that a Bearer credential belongs to: an API key that is not revoked, or (deprecated) a valid app secret. With `counted` the
 * same single round trip counts the request in the app's present minute; the count never goes back, whatever the clocks of other
 * processes say. Null: no such credential; a mistyped API key costs no database read.
 */
export async function findCaller({
  credential,
  counted,
  now,
}: {
  credential: string
  counted: boolean
  now: Date
}): Promise<Caller | null> {
  const isKey = credential.startsWith(API_KEY_PREFIX)
  if (credential === '' || credential.length > LONGEST_CREDENTIAL || (isKey && !isApiKey(credential))) return null
  const digest = sha256(credential)
  const filter = isKey ? byKey(digest) : bySecret(digest, now)
  // The driver's own calls: every value in them is ours, and this runs before each request.
  const apps = Apps.collection
  const app = counted
    ? await apps.findOneAndUpdate(filter, countRequest(now), { returnDocument: 'after', projection: PROJECTION })
    : await apps.findOne(filter, { projection: PROJECTION })
  return app && asCaller(app as unknown as CallerFields, isKey ? digest : undefined)
}

const byKey = (digest: string) => ({ apiKeys: { $elemMatch: { digest, revokedAt: { $exists: false } } } })

const bySecret = (digest: string, now: Date) => ({
  linkSecrets: { $elemMatch: { digest, $or: [{ expiresAt: { $exists: false } }, { expiresAt: { $gt: now } }] } },
})

function countRequest(now: Date) {
  const minute = Math.floor(now.getTime() / MINUTE)
  const further = { minute: '$rate.minute', count: { $add: ['$rate.count', 1] } }
  return [{ $set: { rate: { $cond: [{ $gt: [minute, '$rate.minute'] }, { minute, count: 1 }, further] } } }]
}

function asCaller({ _id, requestsPerMinute, rate, apiKeys }: CallerFields, keyDigest: string | undefined): Caller {
  const key = keyDigest === undefined ? undefined : apiKeys.find(({ digest }: ApiKey) => digest === keyDigest)
  return {
    appId: _id,
    by: key ? { kind: 'api-key', id: key.id } : { kind: 'app-secret', id: _id },
    requestsPerMinute,
    rate,
  }
}
