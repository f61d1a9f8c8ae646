import { Router } from 'express'
import type { HttpRuntime } from '../runtime.ts'
import { createAssets } from './assets.ts'
import { startRouter } from './start.ts'

/** The hosted pages and what they load. Mounted at the root, before the answer to unknown paths. */
export function pagesRouter(runtime: HttpRuntime): Router {
  const assets = createAssets({ scripts: ['start'], styles: ['pages'] })
  const router = Router()
  router.use('/assets', assets.router)
  router.use('/start', startRouter({ runtime, assets }))
  return router
}
