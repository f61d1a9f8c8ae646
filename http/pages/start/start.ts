import express, { type ErrorRequestHandler, type Request, type Response, Router } from 'express'
import { ServiceError } from '../../../core/errors.ts'
import { sha256 } from '../../../core/ids.ts'
import { type App, Apps } from '../../../schemas/app/app.ts'
import { type ConsumedLink, ConsumedLinks, linkId } from '../../../schemas/user/consumed-link.ts'
import { readLink } from '../../access/links.ts'
import {
  flowIdOf,
  newStartCookie,
  readStartCookie,
  START_COOKIE,
  type StartCookie,
  sealStartCookie,
  startCookieOptions,
} from '../../access/start-cookie.ts'
import { findProfile } from '../../actions/begin-flow.ts'
import { contextOf } from '../../kit/context.ts'
import { asServiceError } from '../../kit/error-answer.ts'
import type { HttpRuntime } from '../../kit/runtime.ts'
import type { Assets } from '../kit/assets.ts'
import { type Branding, sendPage } from '../kit/layout.ts'
import { visitorMessage } from './start-errors.ts'
import { startFlow, startRequest } from './start-flow.ts'
import { errorBody, startAside, startBody } from './start-view.ts'

const BODY_LIMIT = '4kb'
const OTHER_FLOW =
  'Another link was opened in this browser since. Continue there, or return to the app and start again.'

/** The hosted page (docs/behaviour.md, Connect flow): GET consumes nothing, POST begins the flow. */
export function startRouter({ runtime, assets }: { runtime: HttpRuntime; assets: Assets }): Router {
  const router = Router()
  router.get('/', async (request, response) => {
    if (request.query['token'] === undefined) await showPage({ request, response, runtime, assets })
    else await takeLink({ request, response, runtime, assets })
  })
  router.post('/', express.json({ limit: BODY_LIMIT }), async (request, response) => {
    const cookie = readStartCookie(request.headers.cookie, runtime)
    if (!cookie) throw new ServiceError('missing_token')
    checkOrigin(request, runtime)
    const parsed = startRequest.safeParse(request.body)
    if (!parsed.success) throw new ServiceError('invalid_parameter', { name: 'viewport', reason: 'is wrong' })
    const { flow, viewport } = parsed.data
    if (flow !== flowIdOf(cookie)) return void response.status(409).json({ error: OTHER_FLOW })
    const lease = await startFlow({ cookie, viewport, runtime })
    response.json({ flow, mobile: lease.viewport.mobile })
  })
  router.use(errorPage(assets))
  return router
}

interface Visit {
  request: Request
  response: Response
  runtime: HttpRuntime
  assets: Assets
}

/** Exchanges the token in the address for this browser's cookie. */
async function takeLink({ request, response, runtime, assets }: Visit): Promise<void> {
  const { token } = request.query
  const kept = readStartCookie(request.headers.cookie, runtime)
  // Opened again in the same browser: its flow goes on, used and expired as the link may be.
  if (kept && typeof token === 'string' && kept.tokenDigest === sha256(token)) return response.redirect(303, '/start')
  const { app, claims } = await readLink({ token, purpose: 'connect', runtime })
  const used = await ConsumedLinks.exists({ _id: linkId(claims) })
  const value = sealStartCookie(newStartCookie({ token: String(token), claims }), runtime)
  const problem = used
    ? new ServiceError('link_used')
    : value === null && new ServiceError('invalid_token', { reason: 'too long' })
  if (problem) return sendProblem({ response, assets, branding: app, problem })
  response.cookie(START_COOKIE, value, { ...startCookieOptions(runtime), encode: String }).redirect(303, '/start')
}

async function showPage({ request, response, runtime, assets }: Visit): Promise<void> {
  const cookie = readStartCookie(request.headers.cookie, runtime)
  if (!cookie) throw new ServiceError('missing_token')
  const app = await Apps.findById(cookie.claims.appId).lean<App>()
  if (!app) throw new ServiceError('invalid_token', { reason: 'unknown app' })
  const problem = await problemOf(cookie, runtime)
  if (problem) return sendProblem({ response, assets, branding: app, problem })
  const profile = findProfile(runtime.profiles, cookie.claims.provider)
  sendPage(response, 200, {
    assets,
    branding: app,
    title: `Connect ${profile.displayName}`,
    aside: startAside(),
    body: startBody({
      flow: flowIdOf(cookie),
      appName: app.name,
      profile,
      redirectUrl: cookie.claims.redirectUrl,
    }),
    style: 'start.css',
    script: 'start.js',
  })
}

/** Why the link of this browser cannot begin a flow, nor go on with one. */
async function problemOf(cookie: StartCookie, { clock }: HttpRuntime): Promise<ServiceError | null> {
  const used = await ConsumedLinks.findById(linkId(cookie.claims)).lean<ConsumedLink>()
  if (used) return used.flowId === flowIdOf(cookie) ? null : new ServiceError('link_used')
  const expired = cookie.claims.exp * 1_000 <= clock.now().getTime()
  return expired ? new ServiceError('invalid_token', { reason: 'expired' }) : null
}

/** A request of another site is none of this page's (SameSite lets navigations through). */
function checkOrigin(request: Request, { config }: HttpRuntime): void {
  const origin = request.get('origin')
  if (origin !== undefined && origin !== new URL(config.BASE_URL).origin) throw new ServiceError('invalid_token')
}

function sendProblem({
  response,
  assets,
  branding,
  problem,
}: {
  response: Response
  assets: Assets
  branding?: Branding
  problem: ServiceError
}): void {
  const message = visitorMessage(problem)
  sendPage(response, problem.status, { assets, branding, title: 'Not connected', body: errorBody(message) })
}

/** Errors are for a person: a page for a navigation, the same words for the page's own script. */
const errorPage =
  (assets: Assets): ErrorRequestHandler =>
  (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error)
    const problem = asServiceError(error)
    if (problem.status >= 500) contextOf(request).log.error({ err: error }, 'request failed')
    if (request.method === 'GET') return sendProblem({ response, assets, problem })
    response.status(problem.status).json({ error: visitorMessage(problem) })
  }
