import { deriveKey, type Keyring, seal, unseal } from '../../core/envelope.ts'
import { newApiKey, newId, newSecret, sha256 } from '../../core/ids.ts'
import { unlessDuplicate } from '../database.ts'
import { type ApiKey, type App, type AppSecret, Apps } from './app.ts'
import { DEMO_APP_ID } from './demo-app-id.ts'

/** What is shown once when an app is created. */
export interface AppSecrets {
  appId: string
  appSecret: string
  apiKey: string
  webhookSecret: string
}

interface NewApp {
  appId: string
  name: string
  contactEmail: string
  logoUrl?: string
  primaryColor?: string
  webhookUrl?: string
  requestsPerMinute?: number
  connectEndedEvents?: boolean
  creation?: NonNullable<App['creation']>
  createdBy: string
  keyring: Keyring
  now: Date
  /** Taken instead of new ones where an app is made again with secrets that are kept elsewhere (the demo app). */
  secrets?: Omit<AppSecrets, 'appId'>
}

const HINT_LENGTH = 4

export const sealSecret = (
  key: Buffer,
  { appId, purpose, secret, now }: { appId: string; purpose: SecretPurpose; secret: string; now: Date },
): AppSecret => ({
  id: newId(),
  sealed: seal(key, { owner: appId, purpose }, secret),
  ...(purpose === 'link-secret' ? { digest: sha256(secret) } : {}),
  createdAt: now,
})

export type SecretPurpose = 'link-secret' | 'webhook-secret'

/** The document of a new API key. */
export const apiKeyRecord = ({
  key,
  name,
  createdBy,
  now,
}: {
  key: string
  name: string
  createdBy: string
  now: Date
}): ApiKey => ({
  id: newId(),
  name,
  digest: sha256(key),
  hint: key.slice(-HINT_LENGTH),
  createdAt: now,
  createdBy,
})

/** Creates an app; throws a duplicate-key error (E11000) where the id is taken. */
export async function createApp({
  appId,
  name,
  contactEmail,
  keyring,
  now,
  createdBy,
  secrets,
  ...more
}: NewApp): Promise<AppSecrets> {
  const { key, wrapped } = keyring.newDataKey()
  const { appSecret, apiKey, webhookSecret } = secrets ?? {
    appSecret: newSecret(),
    apiKey: newApiKey(),
    webhookSecret: newSecret(),
  }
  await Apps.create({
    _id: appId,
    name,
    contactEmail,
    ...more,
    key: wrapped,
    linkSecrets: [sealSecret(key, { appId, purpose: 'link-secret', secret: appSecret, now })],
    webhookSecrets: [sealSecret(key, { appId, purpose: 'webhook-secret', secret: webhookSecret, now })],
    apiKeys: [apiKeyRecord({ key: apiKey, name: 'First key', createdBy, now })],
    createdAt: now,
  })
  return { appId, appSecret, apiKey, webhookSecret }
}

/** The secrets of an app that are valid now, newest first. */
function openSecrets(
  app: Pick<App, '_id' | 'key'>,
  list: AppSecret[],
  { purpose, keyring, now }: { purpose: SecretPurpose; keyring: Keyring; now: Date },
): string[] {
  const key = keyring.unwrap(app.key)
  return list
    .filter(({ expiresAt }) => !expiresAt || expiresAt > now)
    .map(({ sealed }) => unseal(key, { owner: app._id, purpose }, sealed).toString('utf8'))
}

/** Secrets that a link may be signed with: the present one, and an earlier one during its overlap. */
export const linkSecrets = (
  app: Pick<App, '_id' | 'key' | 'linkSecrets'>,
  options: { keyring: Keyring; now: Date },
): string[] => openSecrets(app, app.linkSecrets, { ...options, purpose: 'link-secret' })

/** Secrets that a webhook is signed with; none: no signature. */
export const webhookSecrets = (
  app: Pick<App, '_id' | 'key' | 'webhookSecrets'>,
  options: { keyring: Keyring; now: Date },
): string[] => openSecrets(app, app.webhookSecrets, { ...options, purpose: 'webhook-secret' })

/** A key of the app's own for one purpose (account ids, e-mail hashes): outlives rotations of the master key and of every secret. */
export const appKey = (
  app: Pick<App, '_id' | 'key'>,
  { keyring, purpose }: { keyring: Keyring; purpose: string },
): Buffer => deriveKey(keyring.unwrap(app.key), purpose)

/** The app of a newcomer's `npm start`: made once with secrets that the caller keeps; its webhook address follows the start. */
export async function ensureDemoApp({
  keyring,
  now,
  secrets,
  webhookUrl,
}: {
  keyring: Keyring
  now: Date
  secrets: Omit<AppSecrets, 'appId'>
  /** Absent: the app has none, and its events are discarded. */
  webhookUrl?: string
}): Promise<void> {
  if (!(await Apps.exists({ _id: DEMO_APP_ID }))) {
    await createApp({
      appId: DEMO_APP_ID,
      name: 'Demo App',
      contactEmail: 'demo@example.test',
      primaryColor: '#3355ff',
      keyring,
      now,
      createdBy: 'npm start',
      secrets,
    }).catch(unlessDuplicate)
  }
  await Apps.updateOne({ _id: DEMO_APP_ID }, webhookUrl ? { $set: { webhookUrl } } : { $unset: { webhookUrl: 1 } })
}
