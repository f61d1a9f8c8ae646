import { HOUR } from '../../core/clock.ts'
import { deriveId, newSecret, sha256 } from '../../core/ids.ts'
import { linkId } from '../../schemas/user/consumed-link.ts'
import type { LinkClaims } from './link-claims.ts'
import { sealedCookie } from './sealed-cookie.ts'

/** What a browser keeps of the link that it opened: sealed, so it cannot be read or changed, and useless in another browser's flow. */
export interface StartCookie {
  claims: LinkClaims
  /** SHA-256 of the link's token: the same link opened again is known by it. */
  tokenDigest: string
  /** Random: binds the flow to this browser. */
  binding: string
}

export const START_COOKIE = 'ccs_start'

export const {
  seal: sealStartCookie,
  read: readStartCookie,
  options: startCookieOptions,
} = sealedCookie<StartCookie>({
  name: START_COOKIE,
  page: 'start',
  path: '/start',
  // The flow's hour and the quarter of an hour in which its link may begin it; longer than either runs under TIME_SCALE.
  lifetimeMs: 2 * HOUR,
})

export const newStartCookie = ({ token, claims }: { token: string; claims: LinkClaims }): StartCookie => ({
  claims,
  tokenDigest: sha256(token),
  binding: newSecret(),
})

/** The lease of this link in this browser: the same after a reload, another one in every other browser. */
export const flowIdOf = ({ claims, binding }: StartCookie): string => deriveId('lease', linkId(claims), binding)
