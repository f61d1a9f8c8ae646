import { type Clock, HOUR, MINUTE } from '../../core/clock.ts'
import { isApiKey, sha256 } from '../../core/ids.ts'
import { batched } from '../batched.ts'
import type { Principal } from '../principal.ts'
import { type ApiKey, type App, Apps } from './app.ts'

/** An app that showed its credentials. */
export interface Caller {
  appId: string
  by: Principal
  requestsPerMinute: number
  /** Requests of the minute (Unix minutes), this one included where it was counted. */
  rate: { minute: number; count: number }
  /** When its credential was last used, to the hour. */
  lastUsedAt?: Date | undefined
}

type CallerFields = Pick<App, '_id' | 'requestsPerMinute' | 'rate' | 'apiKeys' | 'bearerSecretUsedAt'>

const API_KEY_PREFIX = 'ccs_'
/** No credential of ours is longer. */
const LONGEST_CREDENTIAL = 512

const PROJECTION = {
  requestsPerMinute: 1,
  rate: 1,
  'apiKeys.id': 1,
  'apiKeys.digest': 1,
  'apiKeys.lastUsedAt': 1,
  bearerSecretUsedAt: 1,
} as const

/**
 * The app that a Bearer credential belongs to: an API key that is not revoked, or (deprecated) a valid app secret. Null: no such
 * credential; a mistyped API key costs no database read.
 */
export async function findCaller({ credential, now }: { credential: string; now: Date }): Promise<Caller | null> {
  const shown = read(credential)
  if (!shown) return null
  const app = await Apps.collection.findOne(filterOf(shown, now), { projection: PROJECTION })
  return app && asCaller(app as unknown as CallerFields, shown)
}

type CountedFinder = (credential: string) => Promise<Caller | null>

/**
 * As `findCaller`, and the same single round trip counts the request in the app's present minute. The count is exact over all
 * processes and never goes back, whatever their clocks say. Requests of one credential that come at the same time are counted by
 * one update, each with a place of its own: an app that asks a lot costs the database no more for it.
 */
export function createCountedFinder({ clock }: { clock: Clock }): CountedFinder {
  const byDigest = new Map<string, { find: (at: null) => Promise<Caller | null>; users: number }>()
  return async (credential) => {
    const shown = read(credential)
    if (!shown) return null
    const known = byDigest.get(shown.digest) ?? {
      find: batched<null, Caller | null>((requests) =>
        countRequests(shown, { requests: requests.length, now: clock.now() }),
      ),
      users: 0,
    }
    byDigest.set(shown.digest, known)
    known.users += 1
    try {
      return await known.find(null)
    } finally {
      known.users -= 1
      if (known.users === 0) byDigest.delete(shown.digest)
    }
  }
}

interface Shown {
  digest: string
  isKey: boolean
}

function read(credential: string): Shown | null {
  const isKey = credential.startsWith(API_KEY_PREFIX)
  if (credential === '' || credential.length > LONGEST_CREDENTIAL || (isKey && !isApiKey(credential))) return null
  return { digest: sha256(credential), isKey }
}

const filterOf = ({ digest, isKey }: Shown, now: Date) =>
  isKey
    ? { apiKeys: { $elemMatch: { digest, revokedAt: { $exists: false } } } }
    : {
        linkSecrets: {
          $elemMatch: { digest, $or: [{ expiresAt: { $exists: false } }, { expiresAt: { $gt: now } }] },
        },
      }

/** Counts so many requests at once and gives each its place among them. */
async function countRequests(
  shown: Shown,
  { requests, now }: { requests: number; now: Date },
): Promise<(Caller | null)[]> {
  const minute = Math.floor(now.getTime() / MINUTE)
  const further = { minute: '$rate.minute', count: { $add: ['$rate.count', requests] } }
  const rate = { $cond: [{ $gt: [minute, '$rate.minute'] }, { minute, count: requests }, further] }
  // The driver's own call: every value in it is ours, and it runs before each request.
  const found = await Apps.collection.findOneAndUpdate(filterOf(shown, now), [{ $set: { rate } }], {
    returnDocument: 'after',
    projection: PROJECTION,
  })
  const last = found && asCaller(found as unknown as CallerFields, shown)
  return Array.from({ length: requests }, (_, index) =>
    last ? { ...last, rate: { ...last.rate, count: last.rate.count - (requests - 1 - index) } } : null,
  )
}

function asCaller(
  { _id, requestsPerMinute, rate, apiKeys, bearerSecretUsedAt }: CallerFields,
  { digest, isKey }: Shown,
): Caller {
  const key = isKey ? apiKeys.find((each: ApiKey) => each.digest === digest) : undefined
  return {
    appId: _id,
    by: key ? { kind: 'api-key', id: key.id } : { kind: 'app-secret', id: _id },
    requestsPerMinute,
    rate,
    lastUsedAt: key ? key.lastUsedAt : bearerSecretUsedAt,
  }
}

/** Writes down that a credential was used, to the hour: one write an hour, which the request does not wait for. */
export function createUseNotes({ clock }: { clock: Clock }): (caller: Caller) => void {
  const noted = new Map<string, number>()
  return ({ appId, by, lastUsedAt }) => {
    const hour = Math.floor(clock.now().getTime() / HOUR) * HOUR
    const name = `${by.kind}|${by.id}`
    if ((lastUsedAt?.getTime() ?? 0) >= hour || noted.get(name) === hour) return
    noted.set(name, hour)
    const at = new Date(hour)
    const write =
      by.kind === 'api-key'
        ? Apps.updateOne({ _id: appId, 'apiKeys.id': by.id }, { $set: { 'apiKeys.$.lastUsedAt': at } })
        : Apps.updateOne({ _id: appId }, { $set: { bearerSecretUsedAt: at } })
    // The next request tries again.
    write.catch(() => noted.delete(name))
  }
}
