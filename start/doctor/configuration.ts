import { type Config, ConfigError, readConfig } from '../../core/config.ts'
import { readSettings } from '../settings.ts'
import { type Finding, fine, wrong } from './check.ts'

const KEY_BYTES = 32
/** What `npm start` fills in on a person's own machine. */
const SANDBOX = {
  MONGODB_URL: 'mongodb://127.0.0.1/',
  BASE_URL: 'http://127.0.0.1:4000',
  MASTER_KEY: Buffer.alloc(KEY_BYTES).toString('base64'),
  OPERATOR_KEY: 'x'.repeat(KEY_BYTES),
  PROVIDER_SITE: 'http://127.0.0.1:4010',
}

/** The configuration as the processes read it; absent where it is wrong. */
export function checkConfiguration(env: Record<string, string | undefined>): { finding: Finding; config?: Config } {
  try {
    const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined && value !== ''))
    const { SERVICE_ENV } = readSettings(given)
    const config = readConfig(SERVICE_ENV === 'production' ? given : { ...SANDBOX, ...given })
    return { finding: fine('configuration', `${SERVICE_ENV}, every variable is as it has to be`), config }
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const text = `${error.message}; set it in the environment of every process (docs/behaviour.md, Environment)`
    return { finding: wrong('configuration', text) }
  }
}
