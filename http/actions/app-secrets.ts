import { SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import type { ApiKey } from '../../schemas/app/app.ts'
import { addApiKey, apiKeysOf, revokeApiKey as revokeKey } from '../../schemas/app/app-keys.ts'
import { endOverlap as endSecretOverlap, rotateSecret } from '../../schemas/app/rotate-secret.ts'
import { audited } from '../../schemas/operations/audit.ts'
import type { Act } from './act.ts'

/** The API keys of an app, oldest first, revoked ones too. Throws `app_not_found`. */
export async function listApiKeys({ appId }: { appId: string }): Promise<ApiKey[]> {
  const keys = await apiKeysOf(appId)
  if (!keys) throw new ServiceError('app_not_found')
  return keys
}

/** Gives an app a further API key, which is shown this once. Throws `app_not_found` or `too_many_keys`. */
export async function createApiKey({
  appId,
  name,
  by,
  runtime: { clock },
}: Act & { appId: string; name: string }): Promise<{ id: string; apiKey: string }> {
  const now = clock.now()
  return audited(
    { at: now, by, action: 'key.created', appId, details: { name } },
    async () => {
      const made = await addApiKey({ appId, name, createdBy: by.kind === 'member' ? by.id : by.kind, now })
      if ('not' in made) throw new ServiceError(made.not)
      return made
    },
    ({ id }) => ({ target: id }),
  )
}

/** Revokes an API key: it is refused from now on. One that was revoked before stays so. Throws `app_not_found` or `not_found`. */
export async function revokeApiKey({
  appId,
  id,
  by,
  runtime: { clock },
}: Act & { appId: string; id: string }): Promise<void> {
  const now = clock.now()
  const keys = await apiKeysOf(appId)
  const key = keys?.find((each) => each.id === id)
  if (!key) throw new ServiceError(keys ? 'not_found' : 'app_not_found')
  await audited(
    { at: now, by, action: 'key.revoked', appId, target: id, details: { name: key.name } },
    () => revokeKey({ appId, id, now }),
    (outcome) => (outcome === 'revoked' ? {} : null),
  )
}

const LISTS = { app: 'linkSecrets', webhook: 'webhookSecrets' } as const
export type RotatedSecret = keyof typeof LISTS

/**
 * Rotates the secret that links are signed with (`app`) or webhooks (`webhook`). Returns the new one, shown this once; the old one stays
 * valid beside it for the overlap (real time). `from` is the id of the secret that it is to follow: whoever decided looking at another one is told, by
 * `rotated_before`, instead of replacing what somebody was shown a moment ago. Throws `app_not_found`.
 */
export async function rotateAppSecret({
  appId,
  secret,
  overlapSeconds,
  from,
  by,
  runtime: { clock, keyring },
}: Act & { appId: string; secret: RotatedSecret; overlapSeconds: number; from?: string | undefined }): Promise<string> {
  const now = clock.now()
  const details = { secret, overlapSeconds }
  return audited({ at: now, by, action: 'secret.rotated', appId, target: appId, details }, async () => {
    const overlapMs = overlapSeconds * SECOND
    const rotated = await rotateSecret({ appId, list: LISTS[secret], overlapMs, from, keyring, now })
    if ('not' in rotated) throw new ServiceError(rotated.not)
    return rotated.secret
  })
}

/** Ends the old secret of a rotation now; where there is none any more nothing changes. */
export async function endOverlap({
  appId,
  secret,
  by,
  runtime: { clock },
}: Act & { appId: string; secret: RotatedSecret }): Promise<void> {
  await audited(
    { at: clock.now(), by, action: 'secret.overlap-ended', appId, target: appId, details: { secret } },
    () => endSecretOverlap({ appId, list: LISTS[secret] }),
    (ended) => (ended ? {} : null),
  )
}
