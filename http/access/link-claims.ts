import { z } from 'zod'
import { parseUrl } from '../../core/parse-url.ts'
import { isLoopbackHost } from '../../provider/profile.ts'
import { LONGEST_ID, text, USER_REF_LENGTH } from '../../wire/text.ts'

export type LinkPurpose = 'connect' | 'manage'

/** What a verified link says (docs/behaviour.md, Authentication). Times are Unix seconds. */
export interface LinkClaims {
  appId: string
  userRef: string
  scopes: string[]
  purpose: LinkPurpose
  jti: string
  iat: number
  exp: number
  /** Which provider to connect, where several are configured. */
  provider?: string
  /** Where the hosted page goes after success; absent where the link's was not acceptable. */
  redirectUrl?: string
  /** The language of the hosted page, as a tag such as `de-AT`; absent: the visitor's own. */
  locale?: string
}

/** RFC 5646, 4.4.1: what every tag in use fits into. */
const LONGEST_LOCALE = 35

const seconds = z.number({ error: ({ input }) => (input === undefined ? 'is missing' : 'is no number') })

const claims = z
  .object({
    appId: text(LONGEST_ID),
    userRef: text(USER_REF_LENGTH),
    scopes: z.array(text(LONGEST_ID), 'is no array of strings').max(32, 'is too long').optional(),
    purpose: z.enum(['connect', 'manage'], 'is unknown'),
    jti: text(LONGEST_ID),
    iat: seconds,
    exp: seconds,
    provider: text(LONGEST_ID).optional(),
    redirectUrl: z.string('is no string').optional(),
    // A language that is none is no reason to refuse anybody.
    locale: text(LONGEST_LOCALE).optional().catch(undefined),
  })
  .refine(({ purpose, scopes }) => purpose !== 'connect' || scopes !== undefined, {
    path: ['scopes'],
    message: 'is missing',
  })

/**
 * Checks the shape of a payload whose signature is right; unknown claims are ignored, and so is a `redirectUrl` that is not allowed
 * (docs/behaviour.md, Hosted pages: https, or loopback in the sandbox). A failure is named by `reason`.
 */
export function parseClaims(
  payload: unknown,
  { sandbox }: { sandbox: boolean },
): { claims: LinkClaims } | { reason: string } {
  const parsed = claims.safeParse(payload)
  if (!parsed.success) {
    const [issue] = parsed.error.issues
    return { reason: `${String(issue?.path[0] ?? 'payload')} ${issue?.message ?? 'is wrong'}` }
  }
  const { provider, redirectUrl, locale, scopes = [], ...rest } = parsed.data
  const redirect = redirectUrl !== undefined && isRedirectAllowed(redirectUrl, { sandbox })
  const optional = { ...(provider && { provider }), ...(redirect && { redirectUrl }), ...(locale && { locale }) }
  return { claims: { ...rest, scopes, ...optional } }
}

function isRedirectAllowed(address: string, { sandbox }: { sandbox: boolean }): boolean {
  const url = parseUrl(address)
  if (!url || url.username || url.password) return false
  return url.protocol === 'https:' || (sandbox && url.protocol === 'http:' && isLoopbackHost(url.hostname))
}
