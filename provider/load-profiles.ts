import { readFile } from 'node:fs/promises'
import { type Config, ConfigError } from '../core/config.ts'
import { type ProviderProfile, parseProfiles, sandboxProfile } from './profile.ts'

/**
 * The providers that this deployment works with, the default first: those of `PROVIDER_PROFILES`, else the sandbox
 * provider at `PROVIDER_SITE`. Throws `ConfigError` with one line where the file cannot be read or is wrong.
 */
export async function loadProfiles({
  PROVIDER_PROFILES: path,
  PROVIDER_SITE: site,
}: Pick<Config, 'PROVIDER_PROFILES' | 'PROVIDER_SITE'>): Promise<ProviderProfile[]> {
  if (!path) {
    if (!site) throw new ConfigError('PROVIDER_PROFILES: is required where no PROVIDER_SITE is given')
    return [sandboxProfile(site)]
  }
  try {
    return parseProfiles(await readFile(path, 'utf8'))
  } catch (error) {
    throw new ConfigError(`PROVIDER_PROFILES: ${error instanceof Error ? error.message : String(error)}`)
  }
}
