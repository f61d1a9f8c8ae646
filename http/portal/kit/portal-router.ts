import { type Request, type RequestHandler, type Response, Router } from 'express'
import { ServiceError } from '../../../core/errors.ts'
import { type App, Apps } from '../../../schemas/app/app.ts'
import { trusted } from '../../../schemas/database.ts'
import { takeNotes } from '../../../schemas/member/note.ts'
import type { Method } from '../../../wire/endpoint.ts'
import {
  isOwnForm,
  isPortalSafe,
  newPortalVisit,
  type PortalVisit,
  readPortalVisit,
  setPortalCookie,
  visitId,
} from '../../access/member.ts'
import { networkAddress } from '../../access/network-address.ts'
import { contextOf } from '../../kit/context.ts'
import { inTime } from '../../kit/deadline.ts'
import { endpoint } from '../../kit/endpoint.ts'
import type { PageContext } from '../../pages/kit/exchange.ts'
import { formBody, formField } from '../../pages/kit/form.ts'
import { ACCESS, type Access, mayDo, PORTAL_PATH, type RouteName, SIGN_IN_PATH } from '../routes.ts'
import { FORM_TOKEN } from './parts.ts'
import { problemPage } from './problem.ts'
import type { AppExchange, Exchange, MemberExchange } from './visit.ts'

type ExchangeOf<A extends Access> = A extends 'anyone' ? Exchange : A extends 'member' ? MemberExchange : AppExchange
/** A handler for every route of the table: a missing one does not compile. */
export type PortalHandlers = {
  readonly [N in RouteName]: (exchange: ExchangeOf<(typeof ACCESS)[N]>) => Promise<void> | void
}

/**
 * The routes of the portal. Who asks is settled first, then the role, and only then a form is read; where it did not come from a page of this
 * visit it changes nothing (docs/security.md, Secrets and tokens).
 */
export function portalRouter({ context, handlers }: { context: PageContext; handlers: PortalHandlers }): Router {
  const router = Router()
  const byPath = new Map<string, Partial<Record<Method, RequestHandler[]>>>()
  for (const name of Object.keys(ACCESS) as RouteName[]) {
    const [verb = '', path = ''] = name.split(' ')
    const method = verb.toLowerCase() as Method
    const methods = byPath.get(path) ?? {}
    methods[method] = [answering({ context, access: ACCESS[name], method, handle: handlers[name] as AnyHandler })]
    byPath.set(path, methods)
  }
  for (const [path, methods] of byPath) endpoint(router, path, methods)
  // Signed out, nothing tells an address that exists from one that does not.
  router.use(
    answering({
      context,
      access: 'member',
      method: 'get',
      handle: () => {
        throw new ServiceError('not_found')
      },
    }),
  )
  router.use(problemPage(context))
  return router
}

type AnyHandler = (exchange: AppExchange) => Promise<void> | void

function answering({
  context,
  access,
  method,
  handle,
}: {
  context: PageContext
  access: Access
  method: Method
  handle: AnyHandler
}): RequestHandler {
  const { runtime } = context
  const readForm = formBody()
  return async (request, response) => {
    if (!isPortalSafe(runtime)) throw new ServiceError('portal_needs_https')
    const visit = await inTime(visitOf(request, response, { context, access }), runtime)
    if (!visit) return response.redirect(303, SIGN_IN_PATH)
    const exchange = await inTime(enter({ ...context, request, response, visit }, access), runtime)
    if (method === 'post') {
      await readBody(request, response, readForm)
      const token = formField(request, FORM_TOKEN)
      if (!isOwnForm({ request, token, visit, runtime })) throw new ServiceError('stale_form')
    }
    await handle(exchange)
  }
}

/** Null: they have to sign in first. */
async function visitOf(
  request: Request,
  response: Response,
  { context: { runtime }, access }: { context: PageContext; access: Access },
): Promise<PortalVisit | null> {
  const known = await readPortalVisit(request, runtime)
  if (access !== 'anyone') return known?.member ? known : null
  if (known) return known
  const visit = newPortalVisit()
  setPortalCookie(response, visit, runtime)
  return visit
}

/** What the route works with, once it is sure that it may. Throws `not_found` for an app of others, `forbidden_role`. */
async function enter(base: Exchange, access: Access): Promise<AppExchange> {
  const { request, visit, runtime } = base
  const { member } = visit
  if (!member) return base as AppExchange
  const { email } = member
  const by = { kind: 'member', id: email, from: networkAddress(request) } as const
  contextOf(request).principal = by
  const appIds = member.apps.map(({ appId }) => appId)
  const { appId } = request.params
  const wanted = typeof appId === 'string' ? member.apps.find((each) => each.appId === appId) : undefined
  if (access !== 'anyone' && access !== 'member' && !wanted) throw new ServiceError('not_found')
  const [named, app] = await Promise.all([
    Apps.find({ _id: trusted({ $in: appIds }) })
      .select({ name: 1 })
      .sort({ name: 1 })
      .lean<Pick<App, '_id' | 'name'>[]>(),
    wanted ? Apps.findById(wanted.appId).lean<App>() : null,
  ])
  const apps = named.map(({ _id, name }) => ({ appId: _id, name }))
  const exchange: MemberExchange = { ...base, email, apps, by }
  if (!wanted) return exchange as AppExchange
  if (!app) throw new ServiceError('not_found')
  const { role } = wanted.member
  if (access !== 'member' && access !== 'anyone' && !mayDo(role, access)) throw new ServiceError('forbidden_role')
  const path = `${PORTAL_PATH}${request.path}`
  const { keyring, clock } = runtime
  const notes =
    request.method === 'GET' ? await takeNotes({ sessionId: visitId(visit), path, keyring, now: clock.now() }) : []
  return { ...exchange, app, role, notes }
}

/** Reads a form as browsers send it; throws `body_too_large`. */
const readBody = (request: Request, response: Response, read: RequestHandler): Promise<void> =>
  new Promise((resolve, reject) => {
    void read(request, response, (error?: unknown) => (error ? reject(error) : resolve()))
  })
