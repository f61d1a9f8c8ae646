import type { Clock } from '../core/clock.ts'
import { ConfigError } from '../core/config.ts'
import type { Keyring } from '../core/envelope.ts'
import { Apps } from '../schemas/app/app.ts'
import { DEMO_APP_ID, ensureDemoApp } from '../schemas/app/apps.ts'
import { connectDatabase } from '../schemas/database.ts'
import { createIndexes } from '../schemas/indexes.ts'
import type { KeptSecrets } from './secrets.ts'

/** Creates the indexes and the demo app, and checks that the data there was written under this master key. */
export async function prepareData(options: {
  databaseUrl: string
  keyring: Keyring
  secrets: KeptSecrets['app']
  webhookUrl: string | undefined
  clock: Clock
}): Promise<void> {
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
