import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { Clock } from '../core/clock.ts'
import { ConfigError } from '../core/config.ts'
import { parseProfiles, sandboxProfile } from '../provider/profile.ts'
import { DEMO_APP_ID } from '../schemas/app/demo-app-id.ts'
import { type Addresses, chooseAddresses } from './addresses.ts'
import type { Announcement } from './announcement.ts'
import { serviceEnvironment, systemEnvironment } from './child-environment.ts'
import { type KeptSecrets, keepSecrets } from './secrets.ts'
import { readSettings, type Settings } from './settings.ts'

type Env = Record<string, string | undefined>

/** Where the example partner takes its events. */
const PARTNER_WEBHOOK_PATH = '/webhooks'

/** What one start runs and where, decided before anything is started. */
interface Plan {
  settings: Settings
  addresses: Addresses
  secrets: KeptSecrets
  providerId: string
  runsSite: boolean
  runsPartner: boolean
  /** Where the demo app's events go; undefined: nowhere. */
  webhookUrl: string | undefined
}

/** Throws `ConfigError` with one line about a wrong value. */
export async function makePlan({ env, clock }: { env: Env; clock: Clock }): Promise<Plan> {
  const settings = readSettings(env)
  const addresses = await chooseAddresses({ settings, clock })
  const runsPartner = settings.webhookUrl === undefined && settings.SERVICE_ENV === 'sandbox'
  return {
    settings,
    addresses,
    secrets: await keepSecrets({ dataDir: resolve(settings.DATA_DIR) }),
    providerId: await providerId({ file: env['PROVIDER_PROFILES'], site: siteUrl(addresses) }),
    runsSite: !env['PROVIDER_PROFILES'] && settings.SERVICE_ENV === 'sandbox',
    runsPartner,
    webhookUrl: runsPartner ? `${partnerUrl(addresses)}${PARTNER_WEBHOOK_PATH}` : settings.webhookUrl || undefined,
  }
}

const siteUrl = ({ sitePort }: Addresses): string => `http://127.0.0.1:${sitePort}`
const partnerUrl = ({ partnerPort }: Addresses): string => `http://127.0.0.1:${partnerPort}`

async function providerId({ file, site }: { file: string | undefined; site: string }): Promise<string> {
  if (!file) return sandboxProfile(site).id
  try {
    return parseProfiles(await readFile(file, 'utf8'))[0]?.id ?? ''
  } catch (error) {
    throw new ConfigError(`PROVIDER_PROFILES: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** What every process of the service gets: defaults for a person's own machine where the environment is silent. */
export function childEnvironment({ env, plan }: { env: Env; plan: Plan }): Env {
  const { settings, addresses, secrets } = plan
  const sandbox = settings.SERVICE_ENV === 'sandbox'
  return {
    ...serviceEnvironment(env),
    SERVICE_ENV: settings.SERVICE_ENV,
    HOST: settings.HOST,
    PORT: String(addresses.port),
    // Each process takes a free one: on one machine they cannot share a port.
    HEALTH_PORT: '0',
    BASE_URL: addresses.baseUrl,
    // Production's master key never lies beside its data: without one from outside the configuration is refused.
    MASTER_KEY: env['MASTER_KEY'] || (sandbox ? secrets.masterKey : ''),
    OPERATOR_KEY: env['OPERATOR_KEY'] || secrets.operatorKey,
    LOG_LEVEL: env['LOG_LEVEL'] || 'warn',
    DATA_DIR: resolve(settings.DATA_DIR),
    ...(plan.runsSite ? { PROVIDER_SITE: siteUrl(addresses) } : {}),
    ...(sandbox ? { WEBHOOK_PRIVATE_ADDRESSES: env['WEBHOOK_PRIVATE_ADDRESSES'] || 'true' } : {}),
  }
}

/** What the sandbox provider gets. */
export const siteEnvironment = ({ env, plan: { addresses } }: { env: Env; plan: Plan }): Env => ({
  ...systemEnvironment(env),
  HOST: '127.0.0.1',
  PORT: String(addresses.sitePort),
})

/** What the example partner gets: what a partner is given when it is taken on. */
export function partnerEnvironment({ env, plan }: { env: Env; plan: Plan }): Env {
  const { settings, addresses, secrets } = plan
  return {
    ...systemEnvironment(env),
    HOST: '127.0.0.1',
    PORT: String(addresses.partnerPort),
    DATA_DIR: resolve(settings.DATA_DIR, 'example-partner'),
    CCS_BASE_URL: addresses.baseUrl,
    CCS_APP_ID: DEMO_APP_ID,
    CCS_APP_SECRET: secrets.app.appSecret,
    CCS_API_KEY: secrets.app.apiKey,
    CCS_WEBHOOK_SECRET: secrets.app.webhookSecret,
  }
}

export function announce(options: {
  plan: Plan
  databaseUrl: string
  processes: Announcement['processes']
  signInUrl: string
  operatorKey: string
}): Announcement {
  const { plan, databaseUrl, processes, signInUrl, operatorKey } = options
  const { baseUrl } = plan.addresses
  return {
    ready: true,
    environment: plan.settings.SERVICE_ENV,
    baseUrl,
    provider: { id: plan.providerId, ...(plan.runsSite ? { site: siteUrl(plan.addresses) } : {}) },
    app: { appId: DEMO_APP_ID, ...plan.secrets.app },
    ...(plan.runsPartner ? { partner: { url: partnerUrl(plan.addresses) } } : {}),
    portal: { url: `${baseUrl}/developers`, signInUrl },
    operator: { url: `${baseUrl}/ops`, key: operatorKey },
    databaseUrl,
    processes,
  }
}
