import { createHmac } from 'node:crypto'
import type { CookieOptions, Request, Response } from 'express'
import { DAY } from '../../core/clock.ts'
import { newSecret, sameSecret, sha256 } from '../../core/ids.ts'
import type { Runtime } from '../../core/process.ts'
import { isLoopbackHost } from '../../provider/profile.ts'
import type { Member } from '../../schemas/member/membership.ts'
import { endSessionsOf, findSession } from '../../schemas/member/session.ts'
import { membershipsOf } from '../../schemas/member/team.ts'
import { findCookie } from './sealed-cookie.ts'

/** Somebody at the portal: signed in with the apps they belong to, or a browser that has only seen the sign-in page. */
export interface PortalVisit {
  /** The cookie's value: names the visit, and the session where there is one. */
  cookie: string
  /** Absent: not signed in. */
  member?: { email: string; apps: { appId: string; member: Member }[] }
}

const NAME = 'ccs_portal'
/** A visit lasts seven days at most; the session decides, the cookie only has to last as long. */
const COOKIE_MS = 7 * DAY
/** What `newSecret` makes; anything else was never given out. */
const COOKIE = /^[\w-]{43}$/

const isHttps = ({ config }: Pick<Runtime, 'config'>): boolean => config.BASE_URL.startsWith('https:')

/** Whether a visit can be kept from others on the way: over TLS, or on the machine itself. */
export const isPortalSafe = (runtime: Pick<Runtime, 'config'>): boolean =>
  isHttps(runtime) || isLoopbackHost(new URL(runtime.config.BASE_URL).hostname)

/** `__Host-` where there is TLS: no other host, path or plain connection can set it (docs/security.md, Secrets and tokens). */
const portalCookieName = (runtime: Pick<Runtime, 'config'>): string => (isHttps(runtime) ? `__Host-${NAME}` : NAME)

const cookieOptions = (runtime: Pick<Runtime, 'config'>): CookieOptions => ({
  httpOnly: true,
  // A sign-in link is opened from a mail: `strict` would lose the cookie on the way.
  sameSite: 'lax',
  secure: isHttps(runtime),
  path: '/',
})

/** The digest under which a visit is kept. */
export const visitId = ({ cookie }: PortalVisit): string => sha256(cookie)

/** Gives the browser the cookie of a visit. */
export function setPortalCookie(response: Response, { cookie }: PortalVisit, runtime: Pick<Runtime, 'config'>): void {
  response.cookie(portalCookieName(runtime), cookie, { ...cookieOptions(runtime), maxAge: COOKIE_MS, encode: String })
}

export function clearPortalCookie(response: Response, runtime: Pick<Runtime, 'config'>): void {
  response.clearCookie(portalCookieName(runtime), cookieOptions(runtime))
}

/**
 * Whom a request is of. Who belongs to no app any more is not signed in: the team decides at every request, so that a removal
 * ends a visit at once.
 */
export async function readPortalVisit(
  request: Request,
  runtime: Pick<Runtime, 'config' | 'clock'>,
): Promise<PortalVisit | null> {
  const cookie = findCookie(portalCookieName(runtime), request.headers.cookie)
  if (cookie === undefined || !COOKIE.test(cookie)) return null
  const session = await findSession({ cookie, now: runtime.clock.now() })
  if (!session) return { cookie }
  const { email } = session
  const apps = await membershipsOf(email)
  if (apps.length > 0) return { cookie, member: { email, apps } }
  await endSessionsOf({ email })
  return { cookie }
}

/** The visit of a browser that has none yet. */
export const newPortalVisit = (): PortalVisit => ({ cookie: newSecret() })

/** What every form of a visit carries: known to this service and this browser only, the same for the whole visit. */
export const formToken = ({ cookie }: PortalVisit, { keyring }: Pick<Runtime, 'keyring'>): string =>
  tokenUnder(keyring.derive(FORMS), cookie)

const FORMS = 'portal-form'
const tokenUnder = (key: Buffer, cookie: string): string => createHmac('sha256', key).update(cookie).digest('base64url')

/** Whether a form was sent by a page of this visit: its token, and the Origin where the browser names one. */
export function isOwnForm({
  request,
  token,
  visit,
  runtime,
}: {
  request: Request
  token: string | undefined
  visit: PortalVisit
  runtime: Pick<Runtime, 'config' | 'keyring'>
}): boolean {
  const own = new URL(runtime.config.BASE_URL).origin
  const origin = request.get('origin') ?? own
  const site = request.get('sec-fetch-site') ?? 'same-origin'
  if (origin !== own || site !== 'same-origin' || token === undefined) return false
  return runtime.keyring.deriveAll(FORMS).some((key) => sameSecret(token, tokenUnder(key, visit.cookie)))
}
