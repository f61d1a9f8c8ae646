import { Router } from 'express'
import type { HttpRuntime } from '../runtime.ts'
import { createAssets } from './assets.ts'
import { manageRouter } from './manage.ts'
import { MANAGE_PATH } from './manage-link.ts'
import { startRouter } from './start.ts'

/** The hosted pages and what they load. Mounted at the root, before the answer to unknown paths. */
export function pagesRouter(runtime: HttpRuntime): Router {
  const assets = createAssets({ scripts: ['start', 'manage'], styles: ['pages', 'start', 'manage'] })
  const router = Router()
  router.use('/assets', assets.router)
  router.use('/start', startRouter({ runtime, assets }))
  router.use(MANAGE_PATH, manageRouter({ runtime, assets }))
  return router
}
