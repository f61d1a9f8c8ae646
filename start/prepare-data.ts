import { systemClock } from '../core/clock.ts'
import { ConfigError, readConfig } from '../core/config.ts'
import { createKeyring, type Keyring } from '../core/envelope.ts'
import { Apps } from '../schemas/app/app.ts'
import { ensureDemoApp } from '../schemas/app/apps.ts'
import { DEMO_APP_ID } from '../schemas/app/demo-app-id.ts'
import { connectDatabase } from '../schemas/database.ts'
import { createIndexes } from '../schemas/indexes.ts'
import { createSignInUrl } from '../schemas/member/sign-in.ts'
import { ensureMember } from '../schemas/member/team.ts'
import { keepSecrets } from './secrets.ts'

/**
 * Creates the indexes, the demo app and its owner, and checks that the data there was written under this master key. Writes a sign-in link of
 * the owner, which works once, within an hour, or why there is none: one line of JSON on stdout. A process that ends: the
 * parent of the service's processes would keep 20 MiB for what this loads.
 */

export type Prepared = { signInUrl: string } | { wrong: string }

/** Who owns the demo app. */
const DEMO_OWNER = 'owner@example.test'

async function prepare(): Promise<Prepared> {
  const config = readConfig(process.env, { kind: 'data' })
  const keyring = createKeyring([config.MASTER_KEY, ...config.OLD_MASTER_KEYS])
  const { app: secrets } = await keepSecrets({ dataDir: config.DATA_DIR })
  const webhookUrl = process.env['WEBHOOK_URL']
  const now = systemClock().now()
  const connection = await connectDatabase({ url: config.MONGODB_URL })
  try {
    await createIndexes()
    await ensureDemoApp({ keyring, now, secrets, ...(webhookUrl && { webhookUrl }) })
    await mustOpen(keyring)
    await ensureMember({ appId: DEMO_APP_ID, email: DEMO_OWNER, role: 'owner', now })
    return { signInUrl: await createSignInUrl({ email: DEMO_OWNER, keyring, baseUrl: config.BASE_URL, now }) }
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

const prepared = await prepare().catch(
  (error: unknown): Prepared => ({ wrong: error instanceof Error ? error.message : String(error) }),
)
process.stdout.write(JSON.stringify(prepared))
