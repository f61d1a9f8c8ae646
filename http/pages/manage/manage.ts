import express, { type ErrorRequestHandler, type Request, type Response, Router } from 'express'
import { SECOND } from '../../../core/clock.ts'
import type { ServiceError } from '../../../core/errors.ts'
import { sameSecret } from '../../../core/ids.ts'
import { awaitCommand } from '../../../schemas/command/commands.ts'
import { MANAGE_PATH, type ManageVisit, readManageVisit, takeManageLink } from '../../access/manage-link.ts'
import { resultOf } from '../../actions/command-result.ts'
import { goneSignal } from '../../kit/abort-signal.ts'
import { contextOf } from '../../kit/context.ts'
import { deadline, inTime } from '../../kit/deadline.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { asServiceError } from '../../kit/error-answer.ts'
import type { HttpRuntime } from '../../kit/runtime.ts'
import type { Assets } from '../kit/assets.ts'
import type { Markup } from '../kit/html.ts'
import { sendPage } from '../kit/layout.ts'
import { visitorMessage } from '../start/start-errors.ts'
import { heldConnections, managedConnections } from './manage-connections.ts'
import { confirmDeletion } from './manage-delete.ts'
import { confirmBody, connectionsBody, deletedBody, deletingBody, problemBody } from './manage-view.ts'

const BODY_LIMIT = '4kb'
/** How long a confirmation waits for the end of the deletion; then the page looks by itself, every so many seconds. */
const WAIT_MS = 10 * SECOND
const LOOK_EVERY_S = 2

/** A form that was not sent by the page as this browser shows it now. */
class StaleForm extends Error {}

interface Exchange {
  request: Request
  response: Response
  runtime: HttpRuntime
  assets: Assets
}

/** The page where users see and delete what an app holds of them (docs/behaviour.md, Manage page): GET consumes nothing. */
export function manageRouter({ runtime, assets }: { runtime: HttpRuntime; assets: Assets }): Router {
  const router = Router()
  const exchange = (request: Request, response: Response): Exchange => ({ request, response, runtime, assets })
  const bounded = deadline(runtime)
  endpoint(router, '/', {
    get: [
      bounded,
      async (request, response) => {
        if (request.query['token'] === undefined) await showConnections(exchange(request, response))
        else await takeManageLink(exchange(request, response))
      },
    ],
  })
  endpoint(router, '/delete', {
    get: [bounded, (request, response) => askForConfirmation(exchange(request, response))],
    post: [
      express.urlencoded({ extended: false, limit: BODY_LIMIT }),
      (request, response) => deleteEverything(exchange(request, response)),
    ],
  })
  router.use(errorPage(assets))
  return router
}

async function showConnections(exchange: Exchange): Promise<void> {
  const { runtime } = exchange
  const visit = await readManageVisit(exchange)
  const { app, claims, deletion } = visit
  const named = { appName: app.name, redirectUrl: claims.redirectUrl }
  if (deletion?.state === 'waiting') {
    exchange.response.set('Refresh', String(LOOK_EVERY_S))
    return send(exchange, { visit, title: 'Deleting your data', body: deletingBody() })
  }
  if (deletion) {
    const body = deletedBody({ result: resultOf(deletion), ...named })
    return send(exchange, { visit, title: 'Everything was deleted', body })
  }
  const connections = await managedConnections({ ...claims, profiles: runtime.profiles })
  send(exchange, { visit, title: 'Your data', body: connectionsBody({ connections, ...named }) })
}

async function askForConfirmation(exchange: Exchange): Promise<void> {
  const visit = await readManageVisit(exchange)
  const { app, claims, flowId } = visit
  const connections = await managedConnections({ ...claims, profiles: exchange.runtime.profiles })
  if (visit.deletion || heldConnections(connections).length === 0) return exchange.response.redirect(303, MANAGE_PATH)
  const body = confirmBody({ connections, app, flowId })
  send(exchange, { visit, title: 'Delete all your data', body })
}

/** Consumes the link, and waits for the end of the deletion; the page that follows shows it and may be reloaded. */
async function deleteEverything(exchange: Exchange): Promise<void> {
  const { request, response, runtime } = exchange
  const { clock } = runtime
  const signal = goneSignal(response)
  checkOrigin(request, runtime)
  const visit = await inTime(readManageVisit(exchange), { clock })
  const flow: unknown = request.body?.flow
  if (typeof flow !== 'string' || !sameSecret(flow, visit.flowId)) throw new StaleForm()
  const id = visit.deletion?._id ?? (await inTime(confirmDeletion({ visit, runtime }), { clock }))
  if (id !== null) await awaitCommand({ id, clock, timeoutMs: WAIT_MS, signal })
  response.redirect(303, MANAGE_PATH)
}

/**
 * A form of another site is none of this page's. Under `Referrer-Policy: no-referrer` browsers send `Origin: null` with our own forms
 * too, so what is named has to be right, and the form's `flow` decides.
 */
function checkOrigin(request: Request, { config }: HttpRuntime): void {
  const origin = request.get('origin') ?? 'null'
  const site = request.get('sec-fetch-site') ?? 'same-origin'
  const own = origin === 'null' || origin === new URL(config.BASE_URL).origin
  if (!own || site !== 'same-origin') throw new StaleForm()
}

function send(
  { response, assets }: Exchange,
  { visit, title, body }: { visit: ManageVisit; title: string; body: Markup },
): void {
  sendPage(response, 200, { assets, branding: visit.app, title, body, style: 'manage.css', script: 'manage.js' })
}

/** Errors are for a person. */
const errorPage =
  (assets: Assets): ErrorRequestHandler =>
  (error: unknown, request, response, next) => {
    if (response.headersSent || response.closed) return next(error)
    const stale = error instanceof StaleForm
    const problem = asServiceError(error)
    if (problem.code === 'method_not_allowed') return next(error)
    if (problem.status >= 500 && !stale) contextOf(request).log.error({ err: error }, 'request failed')
    const words = stale ? STALE : wordsOf(problem)
    sendPage(response, stale ? 403 : problem.status, {
      assets,
      branding: contextOf(request).branding,
      title: words.title,
      body: problemBody({ ...words, back: stale }),
      style: 'manage.css',
    })
  }

const STALE = {
  title: 'Nothing was deleted',
  message: 'The confirmation did not come from this page as it is now: another link may have been opened since.',
}

function wordsOf(problem: ServiceError): { title: string; message: string } {
  const title = problem.status >= 500 ? 'Not available right now' : 'This page cannot be shown'
  if (problem.code !== 'missing_token') return { title, message: visitorMessage(problem) }
  return { title, message: 'This page opens from a link of the app that you connected. Return to the app to get one.' }
}
