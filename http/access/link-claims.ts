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
}

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
  const { provider, redirectUrl, scopes = [], ...rest } = parsed.data
  const redirect = redirectUrl !== undefined && isRedirectAllowed(redirectUrl, { sandbox })
  return { claims: { ...rest, scopes, ...(provider && { provider }), ...(redirect && { redirectUrl }) } }
}

function isRedirectAllowed(address: string, { sandbox }: { sandbox: boolean }): boolean {
  const url = parseUrl(address)
  if (!url || url.username || url.password) return false
  return url.protocol === 'https:' || (sandbox && url.protocol === 'http:' && isLoopbackHost(url.hostname))
}
