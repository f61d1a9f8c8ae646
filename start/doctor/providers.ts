import { SECOND } from '../../core/clock.ts'
import type { Config } from '../../core/config.ts'
import { loadProfiles } from '../../provider/load-profiles.ts'
import type { ProviderProfile } from '../../provider/profile.ts'
import { type Finding, fine, leftOut, reason, wrong } from './check.ts'

const ANSWER_MS = 10 * SECOND
const ADDRESSES = ['loginUrl', 'sessionUrl', 'apiBaseUrl'] as const

/** Whether each address of each profile answers, and whether the cookie reaches the addresses that need it. */
export async function checkProviders({ config, given }: { config: Config; given: boolean }): Promise<Finding[]> {
  if (!given) return [leftOut('providers', 'no PROVIDER_PROFILES; npm start runs the sandbox provider')]
  let profiles: ProviderProfile[]
  try {
    profiles = await loadProfiles(config)
  } catch (error) {
    return [wrong('providers', `${reason(error)}; mend the file (docs/provider.md, Profile)`)]
  }
  const findings = await Promise.all(profiles.map(checkProfile))
  return findings.flat()
}

async function checkProfile(profile: ProviderProfile): Promise<Finding[]> {
  const about = `provider ${profile.id}`
  const answers = await Promise.all(ADDRESSES.map((name) => checkAddress({ about, name, address: profile[name] })))
  const apart = (['sessionUrl', 'apiBaseUrl'] as const).filter((name) => !isWithin(profile[name], profile.cookieDomain))
  const names = apart.map((name) => {
    const { hostname } = new URL(profile[name])
    return wrong(
      about,
      `${name} is at ${hostname}, where a cookie of ${profile.cookieDomain} is not sent; make them agree`,
    )
  })
  const problems = [...answers, ...names].flatMap((finding) => finding ?? [])
  return problems.length > 0 ? problems : [fine(about, 'each address answers, and the names agree')]
}

const isWithin = (address: string, domain: string): boolean => {
  const { hostname } = new URL(address)
  return hostname === domain || hostname.endsWith(`.${domain}`)
}

/** Any answer but a server's own error will do: without a session most addresses refuse. */
async function checkAddress({
  about,
  name,
  address,
}: {
  about: string
  name: string
  address: string
}): Promise<Finding | null> {
  try {
    const { status } = await fetch(address, { redirect: 'manual', signal: AbortSignal.timeout(ANSWER_MS) })
    return status < 500 ? null : wrong(about, `${name} answers ${status}; ask the provider, or mend the profile`)
  } catch (error) {
    return wrong(about, `${name} does not answer (${reason(error)}); check the address and this machine's way to it`)
  }
}
