import { type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { ServiceError } from '../../../core/errors.ts'
import { resumeLease } from '../../../schemas/lease/parked-leases.ts'
import { type LinkVisit, linkVisits, START_PAGE } from '../../access/link-visits.ts'
import { ownOriginOnly } from '../../access/own-origin.ts'
import { findProfile } from '../../actions/begin-flow.ts'
import { cancelFlow } from '../../actions/flow-ends.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { jsonBody } from '../../kit/json-body.ts'
import { errorPage, type ProblemWords, visitorMessage, visitorTitle } from '../kit/error-page.ts'
import { type Exchange, type PageContext, pageHandler } from '../kit/exchange.ts'
import { sendPage } from '../kit/layout.ts'
import type { Texts } from '../kit/texts/en.ts'
import { textsOf } from '../kit/texts-of.ts'
import { flowStateHandlers } from './flow-state.ts'
import { startFlow, startRequest } from './start-flow.ts'
import { startAside, startBody } from './view.ts'

/** What the page's script posts beside the request that begins the flow. */
const flowRequest = z.strictObject({
  /** The flow that the page was rendered for. */
  flow: z.string(),
})

/**
 * The hosted page (docs/behaviour.md, Connect flow): GET consumes nothing, POST begins the flow, `/cancel` ends it, and `/again` lets one go
 * on that has given its browser up.
 */
export function startRouter(context: PageContext): Router {
  const { runtime, assets } = context
  const visits = linkVisits({ page: START_PAGE, runtime })
  const router = Router()
  const hasCookie: RequestHandler = (request, _response, next) => {
    if (visits.flowIdOf(request.headers.cookie) === null) throw new ServiceError('missing_token')
    next()
  }
  const posted = (handle: (exchange: Exchange, visit: LinkVisit) => Promise<void>): RequestHandler[] => [
    ownOriginOnly(runtime),
    hasCookie,
    ...jsonBody(),
    pageHandler(context, async (exchange) => handle(exchange, await visits.read(exchange.request))),
  ]
  endpoint(router, '/', {
    get: [
      pageHandler(context, async (exchange) => {
        if (exchange.request.query['token'] !== undefined) return visits.take(exchange)
        return showPage(exchange, await visits.read(exchange.request))
      }),
    ],
    post: posted(begin),
  })
  endpoint(router, '/cancel', { post: posted(cancel) })
  endpoint(router, '/again', { post: posted(goOn) })
  endpoint(router, '/state', { post: flowStateHandlers(context) })
  router.use(errorPage({ assets, wordsOf, isScript: ({ method }) => method === 'POST' }))
  return router
}

function showPage({ request, response, runtime, assets }: Exchange, { app, claims, flowId }: LinkVisit): void {
  const profile = findProfile(runtime.profiles, claims.provider)
  const texts = textsOf(request)
  const names = { app: app.name, provider: profile.displayName }
  sendPage(response, 200, {
    assets,
    texts,
    branding: app,
    title: texts.start.title(profile.displayName),
    aside: startAside(texts),
    body: startBody({ flow: flowId, names, redirectUrl: claims.redirectUrl, texts }),
    style: 'start.css',
    script: 'start.js',
  })
}

/** Begins the flow, or goes on with it, for the page's own script. */
async function begin({ request, response, runtime }: Exchange, visit: LinkVisit): Promise<void> {
  const parsed = startRequest.safeParse(request.body)
  if (!parsed.success) throw new ServiceError('invalid_parameter', { name: 'viewport', reason: 'is wrong' })
  const { flow, viewport } = parsed.data
  if (!isOf(visit, flow, { request, response })) return
  const lease = await startFlow({ visit, viewport, runtime })
  response.json({ flow, mobile: lease.viewport.mobile })
}

/** Answers `{ended}`: false where it is too late, because the account is being connected already. */
async function cancel({ request, response, runtime }: Exchange, visit: LinkVisit): Promise<void> {
  if (!isOf(visit, readFlow(request.body), { request, response })) return
  response.json({ ended: await cancelFlow({ flowId: visit.flowId, runtime }) })
}

/** The visitor tries again after a failure that left the flow open. */
async function goOn({ request, response, runtime }: Exchange, visit: LinkVisit): Promise<void> {
  if (!isOf(visit, readFlow(request.body), { request, response })) return
  await resumeLease({ id: visit.flowId, now: runtime.clock.now() })
  response.json({ ok: true })
}

function readFlow(body: unknown): string {
  const parsed = flowRequest.safeParse(body)
  if (!parsed.success) throw new ServiceError('invalid_parameter', { name: 'flow', reason: 'is wrong' })
  return parsed.data.flow
}

/** Whether a page is the one of this browser's present flow; one of an earlier link is told so. */
function isOf(visit: LinkVisit, flow: string, { request, response }: Pick<Exchange, 'request' | 'response'>): boolean {
  if (flow === visit.flowId) return true
  response.status(409).json({ error: textsOf(request).ends.other_flow.text({ app: visit.app.name, provider: '' }) })
  return false
}

const wordsOf = (problem: ServiceError, texts: Texts, app?: string): ProblemWords => ({
  title: visitorTitle(problem, texts),
  message: visitorMessage(problem, texts, app),
})
