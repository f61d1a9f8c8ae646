import { SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import type { ApiKey } from '../../schemas/app/app.ts'
import { addApiKey, apiKeysOf, revokeApiKey as revokeKey } from '../../schemas/app/app-keys.ts'
import { endOverlap as endSecretOverlap, rotateSecret } from '../../schemas/app/rotate-secret.ts'
import { recordAudit } from '../../schemas/operations/audit.ts'
import type { Act } from './act.ts'

/** The API keys of an app, oldest first, revoked ones too. Throws `app_not_found`. */
export async function listApiKeys({ appId }: { appId: string }): Promise<ApiKey[]> {
  const keys = await apiKeysOf(appId)
  if (!keys) throw new ServiceError('app_not_found')
  return keys
}

/** Gives an app a further API key, which is shown this once. Throws `app_not_found`. */
export async function createApiKey({
  appId,
  name,
  by,
  runtime: { clock },
}: Act & { appId: string; name: string }): Promise<{ id: string; apiKey: string }> {
  const now = clock.now()
  const made = await addApiKey({ appId, name, createdBy: by.kind === 'member' ? by.id : by.kind, now })
  if (!made) throw new ServiceError('app_not_found')
  await recordAudit({ at: now, by, action: 'key.created', appId, target: made.id, details: { name } })
  return made
}

/** Revokes an API key: it is refused from now on. One that was revoked before stays so. Throws `app_not_found` or `not_found`. */
export async function revokeApiKey({
  appId,
  id,
  by,
  runtime: { clock },
}: Act & { appId: string; id: string }): Promise<void> {
  const now = clock.now()
  const outcome = await revokeKey({ appId, id, now })
  if (outcome === 'unknown') throw new ServiceError((await apiKeysOf(appId)) ? 'not_found' : 'app_not_found')
  if (outcome === 'revoked') await recordAudit({ at: now, by, action: 'key.revoked', appId, target: id })
}

const LISTS = { app: 'linkSecrets', webhook: 'webhookSecrets' } as const

/**
 * Rotates the secret that links are signed with (`app`) or webhooks (`webhook`). Returns the new one, shown this once; the old one stays
 * valid beside it for the overlap (real time). Throws `app_not_found`.
 */
export async function rotateAppSecret({
  appId,
  secret,
  overlapSeconds,
  by,
  runtime: { clock, keyring },
}: Act & { appId: string; secret: 'app' | 'webhook'; overlapSeconds: number }): Promise<string> {
  const now = clock.now()
  const fresh = await rotateSecret({ appId, list: LISTS[secret], overlapMs: overlapSeconds * SECOND, keyring, now })
  if (fresh === null) throw new ServiceError('app_not_found')
  const details = { secret, overlapSeconds }
  await recordAudit({ at: now, by, action: 'secret.rotated', appId, target: appId, details })
  return fresh
}

/** Ends the old secret of a rotation now; where there is none any more nothing changes. */
export async function endOverlap({
  appId,
  secret,
  by,
  runtime: { clock },
}: Act & { appId: string; secret: 'app' | 'webhook' }): Promise<void> {
  if (!(await endSecretOverlap({ appId, list: LISTS[secret] }))) return
  await recordAudit({ at: clock.now(), by, action: 'secret.overlap-ended', appId, target: appId, details: { secret } })
}
