import { Router } from 'express'
import { MANAGE_PATH } from '../access/manage-link.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { createAssets } from './kit/assets.ts'
import { manageRouter } from './manage/manage.ts'
import { startRouter } from './start/start.ts'

const ASSETS = [
  'kit/assets/pages.css',
  'start/assets/start.css',
  'start/assets/start.ts',
  'manage/assets/manage.css',
  'manage/assets/manage.ts',
]

/** The hosted pages and what they load. Mounted at the root, before the answer to unknown paths. */
export function pagesRouter(runtime: HttpRuntime): Router {
  const assets = createAssets(ASSETS)
  const router = Router()
  router.use('/assets', assets.router)
  router.use('/start', startRouter({ runtime, assets }))
  router.use(MANAGE_PATH, manageRouter({ runtime, assets }))
  return router
}
