import { Router } from 'express'
import { SECOND } from '../../../core/clock.ts'
import { ServiceError } from '../../../core/errors.ts'
import { sameSecret } from '../../../core/ids.ts'
import { awaitCommand } from '../../../schemas/command/commands.ts'
import { type LinkVisit, linkVisits, MANAGE_PAGE } from '../../access/link-visits.ts'
import { ownOriginOnly } from '../../access/own-origin.ts'
import { resultOf } from '../../actions/command-result.ts'
import { goneSignal } from '../../kit/abort-signal.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { errorPage, type ProblemWords, visitorMessage } from '../kit/error-page.ts'
import { type Exchange, type PageContext, pageHandler } from '../kit/exchange.ts'
import { formBody, formField } from '../kit/form.ts'
import type { Markup } from '../kit/html.ts'
import { sendPage } from '../kit/layout.ts'
import type { Texts } from '../kit/texts/en.ts'
import { textsOf } from '../kit/texts-of.ts'
import { heldConnections, managedConnections } from './connections.ts'
import { confirmDeletion, deletionOf } from './deletion.ts'
import { confirmBody, connectionsBody, deletedBody, deletingBody } from './view.ts'

/**
 * How long a confirmation waits for the end of the deletion, within the time that a page has to answer; then the page looks by itself,
 * every so many seconds.
 */
const WAIT_MS = 3 * SECOND
const LOOK_EVERY_S = 2

/** The page where users see and delete what an app holds of them (docs/behaviour.md, Manage page): GET consumes nothing. */
export function manageRouter(context: PageContext): Router {
  const { runtime, assets } = context
  const visits = linkVisits({ page: MANAGE_PAGE, runtime })
  const router = Router()
  endpoint(router, '/', {
    get: [
      pageHandler(context, async (exchange) => {
        if (exchange.request.query['token'] !== undefined) return visits.take(exchange)
        return showConnections(exchange, await visits.read(exchange.request))
      }),
    ],
  })
  endpoint(router, '/delete', {
    get: [pageHandler(context, async (exchange) => askForConfirmation(exchange, await visits.read(exchange.request)))],
    post: [
      ownOriginOnly(runtime),
      formBody(),
      pageHandler(context, async (exchange) => deleteEverything(exchange, await visits.read(exchange.request))),
    ],
  })
  router.use(errorPage({ assets, wordsOf }))
  return router
}

async function showConnections(exchange: Exchange, visit: LinkVisit): Promise<void> {
  const { app, claims } = visit
  const texts = textsOf(exchange.request)
  const named = { appName: app.name, redirectUrl: claims.redirectUrl, texts }
  const deletion = await deletionOf(visit)
  if (deletion?.state === 'waiting') {
    exchange.response.set('Refresh', String(LOOK_EVERY_S))
    return send(exchange, { visit, title: texts.manage.deletingTitle, body: deletingBody(texts) })
  }
  if (deletion) {
    const body = deletedBody({ result: resultOf(deletion), ...named })
    return send(exchange, { visit, title: texts.manage.deletedTitle, body })
  }
  const connections = await managedConnections({ ...claims, profiles: exchange.runtime.profiles })
  send(exchange, { visit, title: texts.manage.title, body: connectionsBody({ connections, ...named }) })
}

async function askForConfirmation(exchange: Exchange, visit: LinkVisit): Promise<void> {
  const { app, claims, flowId } = visit
  const connections = await managedConnections({ ...claims, profiles: exchange.runtime.profiles })
  const nothing = heldConnections(connections).length === 0
  if (nothing || (await deletionOf(visit))) return exchange.response.redirect(303, MANAGE_PAGE.path)
  const texts = textsOf(exchange.request)
  const body = confirmBody({ connections, app, flowId, texts })
  send(exchange, { visit, title: texts.manage.confirmPageTitle, body })
}

/** Consumes the link, and waits for the end of the deletion; the page that follows shows it and may be reloaded. */
async function deleteEverything({ request, response, runtime }: Exchange, visit: LinkVisit): Promise<void> {
  const { clock } = runtime
  const end = clock.elapsed() + WAIT_MS
  if (!sameSecret(formField(request, 'flow') ?? '', visit.flowId)) throw new ServiceError('stale_form')
  const id = (await deletionOf(visit))?._id ?? (await confirmDeletion({ visit, runtime }))
  const timeoutMs = Math.max(0, end - clock.elapsed())
  if (id !== null) await awaitCommand({ id, clock, timeoutMs, signal: goneSignal(response) })
  response.redirect(303, MANAGE_PAGE.path)
}

function send(
  { request, response, assets }: Exchange,
  { visit, title, body }: { visit: LinkVisit; title: string; body: Markup },
): void {
  const texts = textsOf(request)
  sendPage(response, 200, {
    assets,
    texts,
    branding: visit.app,
    title,
    body,
    style: 'manage.css',
    script: 'manage.js',
  })
}

function wordsOf(problem: ServiceError, texts: Texts, app?: string): ProblemWords {
  const { manage } = texts
  if (problem.code === 'stale_form')
    return {
      title: manage.staleTitle,
      message: manage.stale,
      link: { href: MANAGE_PAGE.path, label: manage.seeData },
    }
  const title = problem.status >= 500 ? manage.unavailable : manage.notShown
  return { title, message: problem.code === 'missing_token' ? manage.noLink : visitorMessage(problem, texts, app) }
}
