import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { CookieOptions } from 'express'
import { HOUR } from '../../core/clock.ts'
import { seal, unseal } from '../../core/envelope.ts'
import { deriveId, newSecret, sha256 } from '../../core/ids.ts'
import type { Runtime } from '../../core/process.ts'
import { linkId } from '../../schemas/consumed-link.ts'
import type { LinkClaims } from '../link-claims.ts'

export const START_COOKIE = 'ccs_start'
const START_PATH = '/start'
/** The flow's hour and the quarter of an hour in which its link may begin it; longer than either runs under TIME_SCALE. */
const LIFETIME_MS = 2 * HOUR
/** Browsers keep 4,096 bytes of one cookie, its name and attributes included. */
const LONGEST_COOKIE = 3_800
const CONTEXT = { owner: 'start', purpose: 'start-cookie' }

/** What a browser keeps of the link that it opened: sealed, so it cannot be read or changed, and useless in another browser's flow. */
export interface StartCookie {
  claims: LinkClaims
  /** SHA-256 of the link's token: the same link opened again is known by it. */
  tokenDigest: string
  /** Random: binds the flow to this browser. */
  binding: string
}

export const newStartCookie = ({ token, claims }: { token: string; claims: LinkClaims }): StartCookie => ({
  claims,
  tokenDigest: sha256(token),
  binding: newSecret(),
})

/** The lease of this link in this browser: the same after a reload, another one in every other browser. */
export const flowIdOf = ({ claims, binding }: StartCookie): string => deriveId('lease', linkId(claims), binding)

/** The cookie's value; null where the link holds more than a cookie can. */
export function sealStartCookie(cookie: StartCookie, { keyring }: Pick<Runtime, 'keyring'>): string | null {
  const sealed = seal(keyring.derive(CONTEXT.purpose), CONTEXT, deflateRawSync(JSON.stringify(cookie)))
  const value = sealed.toString('base64url')
  return value.length <= LONGEST_COOKIE ? value : null
}

/** What this service sealed, or null for anything else. `header` is the request's `Cookie`. */
export function readStartCookie(
  header: string | undefined,
  { keyring }: Pick<Runtime, 'keyring'>,
): StartCookie | null {
  const value = header
    ?.split(';')
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${START_COOKIE}=`))
    ?.slice(START_COOKIE.length + 1)
  if (!value) return null
  try {
    const opened = unseal(keyring.derive(CONTEXT.purpose), CONTEXT, Buffer.from(value, 'base64url'))
    return JSON.parse(inflateRawSync(opened).toString('utf8')) as StartCookie
  } catch {
    return null
  }
}

export const startCookieOptions = ({ config }: Pick<Runtime, 'config'>): CookieOptions => ({
  httpOnly: true,
  sameSite: 'lax',
  secure: config.BASE_URL.startsWith('https:'),
  path: START_PATH,
  maxAge: LIFETIME_MS,
})
