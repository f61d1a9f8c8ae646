import type { Clock } from '../core/clock.ts'
import { ConfigError } from '../core/config.ts'
import type { Keyring } from '../core/envelope.ts'
import { Apps } from '../schemas/app/app.ts'
import { DEMO_APP_ID, ensureDemoApp } from '../schemas/app/apps.ts'
import { connectDatabase } from '../schemas/database.ts'
import { createIndexes } from '../schemas/indexes.ts'
import { createSignInUrl } from '../schemas/member/sign-in.ts'
import { ensureMember } from '../schemas/member/team.ts'
import type { KeptSecrets } from './secrets.ts'

/** Who owns the demo app. */
const DEMO_OWNER = 'owner@example.test'

/**
 * Creates the indexes, the demo app and its owner, and checks that the data there was written under this master key. Returns a sign-in link of
 * the owner, which works once, within an hour.
 */
export async function prepareData(options: {
  databaseUrl: string
  keyring: Keyring
  secrets: KeptSecrets['app']
  webhookUrl: string | undefined
  baseUrl: string
  clock: Clock
}): Promise<string> {
  const connection = await connectDatabase({ url: options.databaseUrl })
  try {
    await createIndexes()
    await ensureDemoApp({
      keyring: options.keyring,
      now: options.clock.now(),
      secrets: options.secrets,
      ...(options.webhookUrl ? { webhookUrl: options.webhookUrl } : {}),
    })
    await mustOpen(options.keyring)
    const now = options.clock.now()
    await ensureMember({ appId: DEMO_APP_ID, email: DEMO_OWNER, role: 'owner', now })
    return await createSignInUrl({ email: DEMO_OWNER, keyring: options.keyring, baseUrl: options.baseUrl, now })
  } finally {
    await connection.close()
  }
}

async function mustOpen(keyring: Keyring): Promise<void> {
  const app = await Apps.findById(DEMO_APP_ID).lean()
  try {
    if (app) keyring.unwrap(app.key)
  } catch {
    throw new ConfigError('MASTER_KEY: the data in this database was written under another one (another DATA_DIR?)')
  }
}
