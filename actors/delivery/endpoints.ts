import type { Keyring } from '../../core/envelope.ts'
import { type App, Apps } from '../../schemas/app.ts'
import { webhookSecrets } from '../../schemas/apps.ts'
import { trusted } from '../../schemas/database.ts'

/** Where the events of an app go, and what they are signed with. */
export interface Endpoint {
  url: string
  secrets: string[]
}

/** The endpoints of these apps as they are now, in one read; apps without a webhook URL are left out. */
export async function readEndpoints({
  appIds,
  keyring,
  now,
}: {
  appIds: string[]
  keyring: Keyring
  now: Date
}): Promise<Map<string, Endpoint>> {
  const apps = await Apps.find({ _id: trusted({ $in: appIds }) })
    .select({ webhookUrl: 1, webhookSecrets: 1, key: 1 })
    .lean<Pick<App, '_id' | 'webhookUrl' | 'webhookSecrets' | 'key'>[]>()
  return new Map(
    apps.flatMap((app) =>
      app.webhookUrl ? [[app._id, { url: app.webhookUrl, secrets: webhookSecrets(app, { keyring, now }) }]] : [],
    ),
  )
}
