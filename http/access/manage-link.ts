import type { Request, Response } from 'express'
import jwt from 'jsonwebtoken'
import { HOUR } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { deriveId, newSecret } from '../../core/ids.ts'
import { type App, Apps } from '../../schemas/app/app.ts'
import { type Command, Commands } from '../../schemas/command/command.ts'
import { type ConsumedLink, ConsumedLinks, linkId } from '../../schemas/user/consumed-link.ts'
import { contextOf } from '../kit/context.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { isRedirectAllowed, type LinkClaims, parseClaims } from './link-claims.ts'
import { readLink } from './links.ts'
import { sealedCookie } from './sealed-cookie.ts'

export const MANAGE_PATH = '/manage'
export const MANAGE_COOKIE = 'ccs_manage'

/** What a browser keeps of the link that it opened. */
interface ManageCookie {
  /** Verified before it was sealed, and again with each step that a fresh link is needed for. */
  token: string
  /** Random: binds the deletion to this browser. */
  binding: string
}

// Longer than the link itself, so that a deletion confirmed in its last second is seen to its end.
const cookie = sealedCookie<ManageCookie>({ name: MANAGE_COOKIE, page: 'manage', path: MANAGE_PATH, lifetimeMs: HOUR })

/** A browser that opened a manage link. */
export interface ManageVisit {
  app: App
  claims: LinkClaims
  /** This link in this browser: its forms carry it, which no other site can know, and it consumes the link. */
  flowId: string
  /** The deletion that this browser confirmed; null before that. */
  deletion: Command<'purge'> | null
}

interface Exchange {
  request: Request
  response: Response
  runtime: HttpRuntime
}

/** The one deletion of a link: asked for again it is the same, whatever died in between. */
export const deletionIdOf = (claims: LinkClaims): string => deriveId('purge', 'link', linkId(claims))

/** Exchanges the token in the address for this browser's cookie and consumes nothing. Throws `ServiceError`. */
export async function takeManageLink({ request, response, runtime }: Exchange): Promise<void> {
  const { token } = request.query
  // Opened again in the same browser: its own deletion stays in sight, used and expired as the link may be.
  if (cookie.read(request.headers.cookie, runtime)?.token === token) return response.redirect(303, MANAGE_PATH)
  const { app, claims } = await readLink({ token, purpose: 'manage', runtime })
  brand(request, app)
  if (await ConsumedLinks.exists({ _id: linkId(claims) })) throw new ServiceError('link_used')
  const value = cookie.seal({ token: String(token), binding: newSecret() }, runtime)
  if (value === null) throw new ServiceError('invalid_token', { reason: 'too long' })
  response.cookie(MANAGE_COOKIE, value, cookie.options(runtime)).redirect(303, MANAGE_PATH)
}

/**
 * Whom a request is of. The link is verified again until this browser has spent it. Throws `ServiceError`: `missing_token` without a
 * cookie, `link_used` where it was spent elsewhere, or what `readLink` throws.
 */
export async function readManageVisit({ request, runtime }: Exchange): Promise<ManageVisit> {
  const kept = cookie.read(request.headers.cookie, runtime)
  if (!kept) throw new ServiceError('missing_token')
  const claims = sealedClaims(kept, runtime)
  const _id = linkId(claims)
  const flowId = deriveId('manage', _id, kept.binding)
  const [app, used, deletion] = await Promise.all([
    Apps.findById(claims.appId).lean<App>(),
    ConsumedLinks.findById(_id).lean<ConsumedLink>(),
    Commands.findById(deletionIdOf(claims)).lean<Command<'purge'>>(),
  ])
  if (!app) throw new ServiceError('invalid_token', { reason: 'unknown app' })
  brand(request, app)
  if (used && used.flowId !== flowId) throw new ServiceError('link_used')
  if (!used) await readLink({ token: kept.token, purpose: 'manage', runtime })
  // Without a consumption that was seen to be this browser's, the deletion may be another one's that came in between.
  return { app, claims, flowId, deletion: used ? deletion : null }
}

/** What a token says that was verified before it was sealed. */
function sealedClaims({ token }: ManageCookie, { config }: HttpRuntime): LinkClaims {
  const parsed = parseClaims(jwt.decode(token))
  if ('reason' in parsed) throw new ServiceError('malformed_token')
  const { redirectUrl, ...rest } = parsed.claims
  const sandbox = config.SERVICE_ENV === 'sandbox'
  return redirectUrl !== undefined && isRedirectAllowed(redirectUrl, { sandbox }) ? { ...rest, redirectUrl } : rest
}

/** Lets the page of a later error stand under the app's name too. */
function brand(request: Request, app: App): void {
  contextOf(request).branding = app
}
