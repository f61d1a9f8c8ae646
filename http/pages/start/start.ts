import { Router } from 'express'
import { ServiceError } from '../../../core/errors.ts'
import { type LinkVisit, linkVisits, START_PAGE } from '../../access/link-visits.ts'
import { ownOriginOnly } from '../../access/own-origin.ts'
import { findProfile } from '../../actions/begin-flow.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { jsonBody } from '../../kit/json-body.ts'
import { errorPage, type ProblemWords, visitorMessage } from '../kit/error-page.ts'
import { type Exchange, type PageContext, pageHandler } from '../kit/exchange.ts'
import { sendPage } from '../kit/layout.ts'
import { startFlow, startRequest } from './start-flow.ts'
import { startAside, startBody } from './view.ts'

const OTHER_FLOW =
  'Another link was opened in this browser since. Continue there, or return to the app and start again.'

/** The hosted page (docs/behaviour.md, Connect flow): GET consumes nothing, POST begins the flow. */
export function startRouter(context: PageContext): Router {
  const { runtime, assets } = context
  const visits = linkVisits({ page: START_PAGE, runtime })
  const router = Router()
  endpoint(router, '/', {
    get: [
      pageHandler(context, async (exchange) => {
        if (exchange.request.query['token'] !== undefined) return visits.take(exchange)
        return showPage(exchange, await visits.read(exchange.request))
      }),
    ],
    post: [
      ownOriginOnly(runtime),
      (request, _response, next) => {
        if (visits.flowIdOf(request.headers.cookie) === null) throw new ServiceError('missing_token')
        next()
      },
      ...jsonBody(),
      pageHandler(context, async (exchange) => begin(exchange, await visits.read(exchange.request))),
    ],
  })
  router.use(errorPage({ assets, wordsOf, isScript: ({ method }) => method === 'POST' }))
  return router
}

function showPage({ response, runtime, assets }: Exchange, { app, claims, flowId }: LinkVisit): void {
  const profile = findProfile(runtime.profiles, claims.provider)
  sendPage(response, 200, {
    assets,
    branding: app,
    title: `Connect ${profile.displayName}`,
    aside: startAside(),
    body: startBody({ flow: flowId, appName: app.name, profile, redirectUrl: claims.redirectUrl }),
    style: 'start.css',
    script: 'start.js',
  })
}

/** Begins the flow, or goes on with it, for the page's own script. */
async function begin({ request, response, runtime }: Exchange, visit: LinkVisit): Promise<void> {
  const parsed = startRequest.safeParse(request.body)
  if (!parsed.success) throw new ServiceError('invalid_parameter', { name: 'viewport', reason: 'is wrong' })
  const { flow, viewport } = parsed.data
  if (flow !== visit.flowId) return void response.status(409).json({ error: OTHER_FLOW })
  const lease = await startFlow({ visit, viewport, runtime })
  response.json({ flow, mobile: lease.viewport.mobile })
}

function wordsOf(problem: ServiceError): ProblemWords {
  const title = 'Not connected'
  if (problem.code !== 'missing_token') return { title, message: visitorMessage(problem) }
  return {
    title,
    message:
      'This page opens from a link of the app that you are connecting. Return to the app and start again from there.',
  }
}
