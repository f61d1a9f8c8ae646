import { HOUR } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { newId, sha256 } from '../../core/ids.ts'
import { webhookUrlProblem } from '../../core/public-address.ts'
import { type App, Apps } from '../../schemas/app/app.ts'
import { type AppSecrets, createApp as insertApp } from '../../schemas/app/apps.ts'
import { isDuplicate, trusted } from '../../schemas/database.ts'
import { Teams } from '../../schemas/member/membership.ts'
import { audited, recordAudit } from '../../schemas/operations/audit.ts'
import { Users } from '../../schemas/user/user.ts'
import type { ChangedAppBody, NewAppBody } from '../../wire/ops-apps.ts'
import type { Act } from './act.ts'
import { inviteFirstOwner } from './team.ts'

/** How long a request with the same `Idempotency-Key` is taken for the same one. */
const SAME_REQUEST_MS = HOUR

/** Every app, without its secrets. */
export const listApps = (): Promise<App[]> => Apps.find().sort({ _id: 1 }).lean<App[]>()

/** The fields of an app's document that a body gives: `set` to a value, or removed. */
function changesOf({ appName, ...rest }: ChangedAppBody) {
  const given = Object.entries({ ...rest, name: appName }).filter(([, value]) => value !== undefined)
  return {
    set: Object.fromEntries(given.filter(([, value]) => value !== null)) as Partial<App>,
    unset: Object.fromEntries(given.filter(([, value]) => value === null).map(([field]) => [field, 1])),
  }
}

/** docs/security.md, The network: https and public addresses only, unless the sandbox was set up for a developer's own machine. */
function checkWebhookUrl(url: string | null | undefined, { config }: Act['runtime']): void {
  const reason = url ? webhookUrlProblem(url, { allowPrivate: config.WEBHOOK_PRIVATE_ADDRESSES }) : null
  if (reason) throw new ServiceError('invalid_parameter', { name: 'webhookUrl', reason })
}

/**
 * Takes a partner on and invites its first owner; the secrets that are returned are shown this once. Whoever asked may never get them: the process may be killed, the
 * database's answer or ours lost. So the app is marked as unanswered until right before the answer goes out, and whoever asks for its id until
 * then makes it anew. An answer that is lost on its way is asked for again with the same `Idempotency-Key`, within an hour and as long as no
 * secret was used. `canAnswer` tells whether whoever asked is still there. Throws `ServiceError` `app_exists`, `invalid_parameter`, `busy`.
 */
export async function createApp({
  body: { appId, appName, contactEmail, ownerEmail, ...branding },
  idempotencyKey,
  canAnswer,
  by,
  runtime,
}: Act & { body: NewAppBody; idempotencyKey?: string | undefined; canAnswer: () => boolean }): Promise<
  AppSecrets & { signInUrl: string }
> {
  checkWebhookUrl(branding.webhookUrl, runtime)
  const now = runtime.clock.now()
  const keyDigest = idempotencyKey === undefined ? undefined : sha256(idempotencyKey)
  await removeUnseen({ appId, keyDigest, now })
  const attempt = newId()
  const secrets = await insertApp({
    appId,
    name: appName,
    contactEmail,
    ...changesOf(branding).set,
    creation: { attempt, unanswered: true, ...(keyDigest !== undefined && { keyDigest }) },
    createdBy: by.kind,
    keyring: runtime.keyring,
    now,
  }).catch((error: unknown) => Promise.reject(isDuplicate(error) ? new ServiceError('app_exists') : error))
  // Before the answer: an entry too many tells of an attempt, a missing one would hide an app.
  await recordAudit({ at: now, by, action: 'app.created', appId, target: appId })
  const mine = { _id: appId, 'creation.attempt': attempt }
  if (!(await Apps.exists(mine))) throw new ServiceError('app_exists')
  const signInUrl = await inviteFirstOwner({ app: { _id: appId, name: appName }, email: ownerEmail, by, runtime })
  const { matchedCount } = await Apps.updateOne(mine, { $unset: { 'creation.unanswered': 1 } })
  // Somebody else has made it anew meanwhile, and theirs are the secrets that hold.
  if (matchedCount === 0) throw new ServiceError('app_exists')
  if (canAnswer()) return { ...secrets, signInUrl }
  await Apps.updateOne(mine, { $set: { 'creation.unanswered': true } })
  throw new ServiceError('busy')
}

/** Removes an app of this id whose secrets nobody saw, and so nobody used. */
async function removeUnseen({
  appId,
  keyDigest,
  now,
}: {
  appId: string
  keyDigest: string | undefined
  now: Date
}): Promise<void> {
  const sameRequest = keyDigest !== undefined && {
    'creation.keyDigest': keyDigest,
    createdAt: trusted({ $gt: new Date(now.getTime() - SAME_REQUEST_MS) }),
  }
  const unseen = {
    _id: appId,
    'rate.minute': 0,
    $or: [{ 'creation.unanswered': true }, ...(sameRequest ? [sameRequest] : [])],
  }
  if (!(await Apps.exists(unseen)) || (await Users.exists({ appId }))) return
  await Apps.deleteMany(unseen)
  await Teams.deleteMany({ _id: appId })
}

/** Changes fields of an app; null removes an optional one. Throws `ServiceError` `app_not_found` or `invalid_parameter`. */
export async function changeApp({
  appId,
  body,
  by,
  runtime,
}: Act & { appId: string; body: ChangedAppBody }): Promise<App> {
  checkWebhookUrl(body.webhookUrl, runtime)
  const { set, unset } = changesOf(body)
  const fields = [...Object.keys(set), ...Object.keys(unset)]
  const at = runtime.clock.now()
  return audited({ at, by, action: 'app.changed', appId, target: appId, details: { fields } }, async () => {
    const app = await Apps.findOneAndUpdate(
      { _id: appId },
      { ...(Object.keys(set).length > 0 && { $set: set }), ...(Object.keys(unset).length > 0 && { $unset: unset }) },
      { returnDocument: 'after' },
    ).lean<App>()
    if (!app) throw new ServiceError('app_not_found')
    return app
  })
}
