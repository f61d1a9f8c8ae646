export type PartnerConfig = {
  /** Base address of the service. */
  baseUrl: string
  appId: string
  appSecret: string
  apiKey: string
  webhookSecret: string
  host: string
  port: number
  /** Where received events are kept over restarts; without it they live in memory. */
  dataDir: string | undefined
}

/** @throws Error with one line that names what is missing or wrong */
export function readConfig(env: NodeJS.ProcessEnv): PartnerConfig {
  const need = (name: string): string => {
    const value = env[name]
    if (!value) throw new Error(`${name} is missing: the example partner needs it`)
    return value
  }
  const port = Number(env['PORT'] || 4020)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new Error('PORT must be an integer from 0 to 65535')
  return {
    baseUrl: need('CCS_BASE_URL'),
    appId: need('CCS_APP_ID'),
    appSecret: need('CCS_APP_SECRET'),
    apiKey: need('CCS_API_KEY'),
    webhookSecret: need('CCS_WEBHOOK_SECRET'),
    host: env['HOST'] || '127.0.0.1',
    port,
    dataDir: env['DATA_DIR'] || undefined,
  }
}
