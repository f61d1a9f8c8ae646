import { type RequestHandler, Router } from 'express'
import { ServiceError } from '../../core/errors.ts'
import { MANAGE_PAGE, START_PAGE } from '../access/link-visits.ts'
import { homeRouter } from './home.ts'
import type { PageContext } from './kit/exchange.ts'
import { LOGO_ROUTE, serveLogo } from './kit/logos.ts'
import { manageRouter } from './manage/manage.ts'
import { startRouter } from './start/start.ts'

/** The hosted pages, and what they and the portal load. Mounted at the root, before the answer to unknown paths. */
export function pagesRouter({ runtime, assets }: PageContext): Router {
  const router = Router()
  router.use('/', homeRouter({ runtime, assets }))
  router.use('/assets', readOnly, assets.router)
  router.get(`/assets${LOGO_ROUTE}`, serveLogo(runtime))
  router.use(START_PAGE.path, startRouter({ runtime, assets }))
  router.use(MANAGE_PAGE.path, manageRouter({ runtime, assets }))
  return router
}

/** Answers 405 to whatever does more than read. */
const readOnly: RequestHandler = ({ method }, response, next) => {
  if (method === 'GET' || method === 'HEAD') return next()
  response.set('Allow', 'GET, HEAD')
  throw new ServiceError('method_not_allowed')
}
