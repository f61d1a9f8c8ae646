import jwt from 'jsonwebtoken'
import { MINUTE, SECOND } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { type App, Apps } from '../../schemas/app/app.ts'
import { linkSecrets } from '../../schemas/app/apps.ts'
import { isStorable, LONGEST_ID } from '../../wire/text.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { type LinkClaims, type LinkPurpose, parseClaims } from './link-claims.ts'

/** docs/behaviour.md, Limits. */
const LONGEST_LIFE_S = (15 * MINUTE) / SECOND
/** docs/security.md, Secrets and tokens: how far the partner's clock may be ahead. */
const SKEW_S = 60
/** docs/security.md, Secrets and tokens: a shorter secret could be guessed from one link. */
const SHORTEST_SECRET_BYTES = 32
/** Far more than any link has; longer ones are not worth parsing. */
const LONGEST_TOKEN = 8_192

type LinkRuntime = Pick<HttpRuntime, 'clock' | 'config' | 'keyring'>

/** A link that the app signed. */
export interface VerifiedLink {
  app: App
  claims: LinkClaims
}

/**
 * Verifies a link's token (docs/behaviour.md, Authentication; docs/security.md, Secrets and tokens) and consumes nothing. Throws `ServiceError` `missing_token`,
 * `malformed_token`, `wrong_purpose` or `invalid_token` with a reason.
 */
export async function readLink({
  token,
  purpose,
  runtime,
}: {
  token: unknown
  purpose: LinkPurpose
  runtime: LinkRuntime
}): Promise<VerifiedLink> {
  const link = await verifyLink({ token, runtime })
  checkLink(link.claims, { purpose, now: runtime.clock.now() })
  return link
}

/** The first half of `readLink`: who signed the link and what it says, whatever its purpose and its age. Throws as it does. */
export async function verifyLink({ token, runtime }: { token: unknown; runtime: LinkRuntime }): Promise<VerifiedLink> {
  if (token === undefined || token === null || token === '') throw new ServiceError('missing_token')
  if (typeof token !== 'string') throw new ServiceError('malformed_token')
  const appId = unverifiedAppId(token)
  const app = await Apps.findById(appId).lean<App>()
  if (!app) throw invalid('unknown app')
  const now = runtime.clock.now()
  const payload = verify({ token, secrets: linkSecrets(app, { keyring: runtime.keyring, now }), now })
  const parsed = parseClaims(payload, { sandbox: runtime.config.SERVICE_ENV === 'sandbox' })
  if ('reason' in parsed) throw invalid(parsed.reason)
  return { app, claims: parsed.claims }
}

/** The second half: whether the link is for `purpose`, now. Throws `wrong_purpose` or `invalid_token`. */
export function checkLink(claims: LinkClaims, { purpose, now }: { purpose: LinkPurpose; now: Date }): void {
  if (claims.purpose !== purpose) throw new ServiceError('wrong_purpose', { purpose })
  checkTimes(claims, now)
}

const invalid = (reason: string): ServiceError => new ServiceError('invalid_token', { reason })

/** Says which app's secrets to try; nothing else is taken from a token before its signature was verified. */
function unverifiedAppId(token: string): string {
  const decoded = token.length <= LONGEST_TOKEN ? decode(token) : null
  if (decoded === null || typeof decoded.payload !== 'object') throw new ServiceError('malformed_token')
  if (decoded.header.alg !== 'HS256') throw invalid('algorithm must be HS256')
  // RFC 8725: an extension that must be understood and is not.
  if (decoded.header.crit !== undefined) throw invalid('unknown critical header')
  const appId: unknown = decoded.payload['appId']
  if (typeof appId !== 'string' || appId === '') throw invalid('appId is missing')
  if (appId.length > LONGEST_ID || !isStorable(appId)) throw invalid('unknown app')
  return appId
}

function decode(token: string): jwt.Jwt | null {
  try {
    return jwt.decode(token, { complete: true })
  } catch {
    return null
  }
}

/** The payload, once one of the secrets fits. */
function verify({ token, secrets, now }: { token: string; secrets: string[]; now: Date }): unknown {
  for (const secret of secrets) {
    if (Buffer.byteLength(secret) < SHORTEST_SECRET_BYTES) continue
    try {
      return jwt.verify(token, secret, {
        algorithms: ['HS256'],
        clockTimestamp: Math.floor(now.getTime() / SECOND),
        // The times are checked with reasons of their own once the shape of the claims is known.
        ignoreExpiration: true,
      })
    } catch (error) {
      if (error instanceof jwt.NotBeforeError) throw invalid('not valid yet')
      if (!(error instanceof jwt.JsonWebTokenError)) throw error
    }
  }
  throw invalid('bad signature')
}

function checkTimes({ iat, exp }: LinkClaims, now: Date): void {
  const present = now.getTime() / SECOND
  if (exp <= present) throw invalid('expired')
  if (iat > present + SKEW_S) throw invalid('iat is in the future')
  if (exp - iat > LONGEST_LIFE_S) throw invalid('lifetime is longer than 15 minutes')
}
