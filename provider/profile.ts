import { z } from 'zod'
import { parseUrl } from '../core/parse-url.ts'

/** A host name or literal address as it stands in `URL.hostname`: no port, no scheme, no path. */
const HOST =
  /^(\[[0-9a-f:.]+\]|[0-9a-f:]*:[0-9a-f:.]+|[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*)$/
/** RFC 6265 cookie-name: an RFC 7230 token. */
const COOKIE_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const MAX_REQUESTS_PER_MINUTE = 1_000_000
/** Pages of a list that moves are read with one entry in common, so a page of one would bring nothing new. */
const MIN_PAGE_SIZE = 2

const host = (what: string) =>
  z
    .string()
    .toLowerCase()
    .regex(HOST, { error: `must be ${what} without scheme, port or path` })

const hostPattern = z
  .string()
  .toLowerCase()
  .refine((value) => HOST.test(value.startsWith('*.') ? value.slice(2) : value), {
    error: 'must be a host name without scheme, port or path, optionally with a leading "*."',
  })

const httpUrl = z
  .string()
  .refine((value) => /^https?:$/.test(parseUrl(value)?.protocol ?? ''), {
    error: 'must be an absolute http or https address',
  })
  .refine((value) => !parseUrl(value)?.username && !parseUrl(value)?.password, {
    error: 'must not hold a user name or password',
  })

/** One provider's configuration: docs/provider.md, Profile. Every field is required and no other is accepted. */
export const providerProfile = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, { error: 'must be 1 to 64 of a-z, 0-9, ".", "_", "-"' }),
    displayName: z.string().trim().min(1).max(80),
    loginUrl: httpUrl,
    cookieDomain: host('a host name'),
    cookieName: z.string().max(200).regex(COOKIE_NAME, { error: 'must be a cookie name' }),
    sessionUrl: httpUrl,
    apiBaseUrl: httpUrl
      .refine((value) => !/[?#]/.test(value), { error: 'must have no query and no fragment' })
      .transform((value) => value.replace(/\/+$/, '')),
    allowedHosts: z.array(hostPattern).min(1),
    pageSize: z.int().min(MIN_PAGE_SIZE).max(1000),
    requestsPerMinute: z.int().min(1).max(MAX_REQUESTS_PER_MINUTE),
  })
  .refine((profile) => matchesHost(profile.allowedHosts, new URL(profile.loginUrl).hostname), {
    path: ['allowedHosts'],
    error: 'must hold the host of loginUrl',
    when: ({ issues }) => issues.length === 0,
  })

export type ProviderProfile = z.infer<typeof providerProfile>

const providerProfiles = z
  .array(providerProfile)
  .min(1, { error: 'holds no profile' })
  .refine((profiles) => new Set(profiles.map(({ id }) => id)).size === profiles.length, {
    error: 'holds two profiles with one id',
  })

/**
 * Reads the JSON text of `PROVIDER_PROFILES`: an array of profiles, the first being the default.
 * Throws an `Error` of one line that names each wrong, missing or unknown field.
 */
export function parseProfiles(json: string): ProviderProfile[] {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw new Error(`Provider profiles are not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  const parsed = providerProfiles.safeParse(value)
  if (parsed.success) return parsed.data
  const reasons = parsed.error.issues.map(({ path, message }) => {
    const [index, ...rest] = path
    const place = index === undefined ? '' : `profile ${Number(index) + 1} ${rest.map(String).join('.')}`.trim()
    return place === '' ? message : `${place}: ${message}`
  })
  throw new Error(`Provider profiles are wrong: ${reasons.join('; ')}`)
}

/** The profile of the bundled sandbox provider that is reachable at `site`, for example `http://127.0.0.1:4010`. */
export function sandboxProfile(site: string): ProviderProfile {
  const { origin, hostname, protocol } = new URL(site)
  return providerProfile.parse({
    id: 'sandbox-assistant',
    displayName: 'Sandbox Assistant',
    loginUrl: `${origin}/login`,
    cookieDomain: hostname,
    // A browser refuses a cookie with the prefix __Secure- over plain http.
    cookieName: protocol === 'https:' ? '__Secure-session-token' : 'session-token',
    sessionUrl: `${origin}/api/auth/session`,
    apiBaseUrl: `${origin}/backend-api`,
    allowedHosts: [hostname],
    pageSize: 28,
    requestsPerMinute: 60,
  })
}

/** Whether the hosted browser may visit `hostname` (as in `URL.hostname`, without a port). `*.a.b` covers x.a.b, not a.b. */
export function hostAllowed(profile: Pick<ProviderProfile, 'allowedHosts'>, hostname: string): boolean {
  return matchesHost(profile.allowedHosts, hostname)
}

/** Whether every address of the profile is on this machine, which is what lets plain http and loopback downloads pass. */
export function onLoopback(profile: Pick<ProviderProfile, 'apiBaseUrl'>): boolean {
  return isLoopbackHost(new URL(profile.apiBaseUrl).hostname)
}

export function isLoopbackHost(hostname: string): boolean {
  const name = bare(hostname)
  return name === 'localhost' || name.endsWith('.localhost') || name === '::1' || /^127(\.\d{1,3}){3}$/.test(name)
}

function matchesHost(patterns: string[], hostname: string): boolean {
  const name = bare(hostname)
  if (name === '') return false
  return patterns.some((pattern) =>
    pattern.startsWith('*.')
      ? name.endsWith(pattern.slice(1)) && name.length > pattern.length - 1
      : name === bare(pattern),
  )
}

/** One spelling of a host: lower case, no brackets around an IPv6 address, no dot at the end. */
function bare(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
}
