import type { Keyring } from '../../core/envelope.ts'
import { type App, Apps } from '../../schemas/app/app.ts'
import { webhookSecrets } from '../../schemas/app/apps.ts'
import { trusted } from '../../schemas/database.ts'
import { NO_SECRET, NO_WEBHOOK_URL } from './failure.ts'
import { type Target, targetOf } from './send.ts'

/** Where the events of an app go and what they are signed with, or why they can go nowhere. */
export type Endpoint = { target: Target; secrets: string[] } | { problem: string }

/** The app has no webhook URL, or is no more. */
export const goesNowhere = (endpoint: Endpoint): boolean => 'problem' in endpoint && endpoint.problem === NO_WEBHOOK_URL

type EndpointOwner = Pick<App, '_id' | 'webhookUrl' | 'webhookSecrets' | 'key'>

interface EndpointOptions {
  keyring: Keyring
  now: Date
  /** A sandbox on a developer's own machine. */
  allowPrivate: boolean
}

/** The endpoints of these apps as they are now, in one read. */
export async function readEndpoints({
  appIds,
  ...options
}: EndpointOptions & { appIds: string[] }): Promise<(appId: string) => Endpoint> {
  const apps = await Apps.find({ _id: trusted({ $in: appIds }) })
    .select({ webhookUrl: 1, webhookSecrets: 1, key: 1 })
    .lean<EndpointOwner[]>()
  const endpoints = new Map(apps.map((app) => [app._id, endpointOf(app, options)]))
  return (appId) => endpoints.get(appId) ?? { problem: NO_WEBHOOK_URL }
}

function endpointOf(app: EndpointOwner, options: EndpointOptions): Endpoint {
  if (!app.webhookUrl) return { problem: NO_WEBHOOK_URL }
  const target = targetOf(app.webhookUrl, options)
  if ('problem' in target) return target
  try {
    return { target, secrets: webhookSecrets(app, options) }
  } catch {
    // Never unsigned instead: the receiver must be able to trust what it gets.
    return { problem: NO_SECRET }
  }
}
