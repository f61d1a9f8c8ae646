import type { Request, Response } from 'express'
import jwt from 'jsonwebtoken'
import { z } from 'zod'
import { HOUR } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { deriveId, newSecret } from '../../core/ids.ts'
import { Apps } from '../../schemas/app/app.ts'
import { ConsumedLinks, linkId } from '../../schemas/user/consumed-link.ts'
import { contextOf } from '../kit/context.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { type LinkClaims, type LinkPurpose, parseClaims } from './link-claims.ts'
import { checkLink, type VerifiedLink, verifyLink } from './links.ts'
import { sealedCookie } from './sealed-cookie.ts'

/** A hosted page that is opened by a link. */
interface LinkPage {
  /** Names its cookie (`ccs_…`) and the keys that seal it. */
  name: string
  path: string
  purpose: LinkPurpose
  /** Names the kind of its flow ids. */
  flow: string
  cookieMs: number
}

export const START_PAGE: LinkPage = {
  name: 'start',
  path: '/start',
  purpose: 'connect',
  flow: 'lease',
  // The flow's hour and the quarter of an hour in which its link may begin it; longer than either runs under TIME_SCALE.
  cookieMs: 2 * HOUR,
}

export const MANAGE_PAGE: LinkPage = {
  name: 'manage',
  path: '/manage',
  purpose: 'manage',
  flow: 'manage',
  // Longer than the link itself, so that a deletion confirmed in its last second is seen to its end.
  cookieMs: HOUR,
}

/** A browser that opened a link, on the page of it. */
export interface LinkVisit extends VerifiedLink {
  /** This link in this browser: another one in every other browser, and nothing that another site could know. It consumes the link. */
  flowId: string
  /** This browser has consumed the link; until then the link was good at this moment. */
  consumed: boolean
}

/** Who asks by link, on one page: the token in the address becomes a cookie of this browser, which its further requests carry. */
interface LinkVisits {
  /** Exchanges the token in the address for the cookie, consumes nothing and sends the browser to the clean address. Throws `ServiceError`. */
  take(exchange: { request: Request; response: Response }): Promise<void>
  /**
   * Whom a request is of. Throws `ServiceError`: `missing_token` without a cookie, `link_used` where another browser consumed the link,
   * or, until this one has, whatever a link can be refused for.
   */
  read(request: Request): Promise<LinkVisit>
  /** The flow of the cookie alone, without a look at the database; null without a cookie. `header` is the request's `Cookie`. */
  flowIdOf(header: string | undefined): string | null
}

const cookieContent = z.object({
  /** Verified before it was sealed, and again until this browser has consumed the link. */
  token: z.string(),
  /** Random: binds the flow to this browser. */
  binding: z.string(),
})

export function linkVisits({
  page: { name, path, purpose, flow, cookieMs },
  runtime,
}: {
  page: LinkPage
  runtime: Pick<HttpRuntime, 'clock' | 'config' | 'keyring'>
}): LinkVisits {
  const cookie = sealedCookie<z.infer<typeof cookieContent>>({
    name: `ccs_${name}`,
    page: name,
    path,
    lifetimeMs: cookieMs,
    runtime,
  })
  const sandbox = runtime.config.SERVICE_ENV === 'sandbox'
  const readCookie = (header: string | undefined): { token: string; claims: LinkClaims; flowId: string } | null => {
    const content = cookieContent.safeParse(cookie.read(header))
    if (!content.success) return null
    const { token, binding } = content.data
    const parsed = parseClaims(jwt.decode(token), { sandbox })
    if ('reason' in parsed) return null
    return { token, claims: parsed.claims, flowId: deriveId(flow, linkId(parsed.claims), binding) }
  }
  return {
    take: async ({ request, response }) => {
      const { token } = request.query
      // Opened again in the same browser: its own flow goes on, used and expired as the link may be.
      if (token !== undefined && readCookie(request.headers.cookie)?.token === token)
        return response.redirect(303, path)
      const link = await verifyLink({ token, runtime })
      showFor(request, link)
      checkLink(link.claims, { purpose, now: runtime.clock.now() })
      if (await ConsumedLinks.exists({ _id: linkId(link.claims) })) throw new ServiceError('link_used')
      if (!cookie.give(response, { token: String(token), binding: newSecret() }))
        throw new ServiceError('invalid_token', { reason: 'too long' })
      response.redirect(303, path)
    },
    read: async (request) => {
      const visit = readCookie(request.headers.cookie)
      if (!visit) throw new ServiceError('missing_token')
      const { token, claims, flowId } = visit
      const [app, used] = await Promise.all([
        Apps.findById(claims.appId).lean(),
        ConsumedLinks.findById(linkId(claims)).select({ flowId: 1 }).lean(),
      ])
      if (!app) throw new ServiceError('invalid_token', { reason: 'unknown app' })
      showFor(request, { app, claims })
      if (used && used.flowId !== flowId) throw new ServiceError('link_used')
      // Its app may have taken its secret back meanwhile.
      if (!used) await verifyLink({ token, runtime })
      if (!used) checkLink(claims, { purpose, now: runtime.clock.now() })
      return { app, claims, flowId, consumed: used !== null }
    },
    flowIdOf: (header) => readCookie(header)?.flowId ?? null,
  }
}

/** The page stands under the app's name from here on, also the one of an error, with the way back to the app. */
function showFor(request: Request, { app, claims }: VerifiedLink): void {
  const { redirectUrl, locale } = claims
  Object.assign(contextOf(request), {
    branding: app,
    ...(redirectUrl !== undefined && { returnUrl: redirectUrl }),
    ...(locale !== undefined && { locale }),
  })
}
