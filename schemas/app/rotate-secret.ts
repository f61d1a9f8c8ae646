import type { Keyring } from '../../core/envelope.ts'
import { newSecret } from '../../core/ids.ts'
import { type App, type AppSecret, Apps } from './app.ts'
import { type SecretPurpose, sealSecret } from './apps.ts'

type RotatedSecret = 'linkSecrets' | 'webhookSecrets'

const PURPOSES: Record<RotatedSecret, SecretPurpose> = {
  linkSecrets: 'link-secret',
  webhookSecrets: 'webhook-secret',
}

/** Every link is tried with each of them, and every webhook signed with each. */
const MOST_SECRETS = 10

/**
 * Puts a new secret before those of an app, which end after the overlap (real ms) at the latest; with an overlap of 0 they end at once.
 * Returns the new one, shown this once, or why there is none: with `from`, another secret than that one is the newest by now.
 */
export async function rotateSecret({
  appId,
  list,
  overlapMs,
  from,
  keyring,
  now,
}: {
  appId: string
  list: RotatedSecret
  overlapMs: number
  from?: string | undefined
  keyring: Keyring
  now: Date
}): Promise<{ secret: string } | { not: 'app_not_found' | 'rotated_before' }> {
  const secret = newSecret()
  const end = new Date(now.getTime() + overlapMs)
  for (;;) {
    const app = await Apps.findById(appId)
      .select({ key: 1, [list]: 1 })
      .lean<Pick<App, 'key' | RotatedSecret>>()
    if (!app) return { not: 'app_not_found' }
    const present = app[list]
    if (from !== undefined && present[0]?.id !== from) return { not: 'rotated_before' }
    const fresh = sealSecret(keyring.unwrap(app.key), { appId, purpose: PURPOSES[list], secret, now })
    const { matchedCount } = await Apps.updateOne(
      // Another rotation in between has put one of its own first.
      { _id: appId, [`${list}.0.id`]: present[0]?.id ?? null },
      { $set: { [list]: [fresh, ...ending(present, end, now)].slice(0, MOST_SECRETS) }, $unset: { creation: 1 } },
    )
    if (matchedCount > 0) return { secret }
  }
}

const ending = (secrets: AppSecret[], end: Date, now: Date): AppSecret[] =>
  secrets
    .map((each) => ({ ...each, expiresAt: each.expiresAt && each.expiresAt < end ? each.expiresAt : end }))
    .filter(({ expiresAt }) => expiresAt > now)

/** Ends the overlap of a rotation: from now on the newest secret alone is valid. Returns whether there was an older one. */
export async function endOverlap({ appId, list }: { appId: string; list: RotatedSecret }): Promise<boolean> {
  const { modifiedCount } = await Apps.updateOne(
    { _id: appId },
    { $pull: { [list]: { expiresAt: { $exists: true } } } },
  )
  return modifiedCount > 0
}
