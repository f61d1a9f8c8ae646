import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import compression from 'compression'
import { Router } from 'express'
import { endpoint } from '../kit/endpoint.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { docsPage } from './docs-page.ts'
import { openApiDocument } from './document.ts'

const POLICY = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const HOUR_CACHE = 'public, max-age=3600'

/** The API's description and guide: made once at the start, from our own files only. */
export function docsRouter({ config }: Pick<HttpRuntime, 'config'>): Router {
  const description = JSON.stringify(openApiDocument({ baseUrl: config.BASE_URL }))
  const style = readFileSync(new URL('docs.css', import.meta.url), 'utf8')
  const stylesheet = `/docs/style-${createHash('sha256').update(style).digest('hex').slice(0, 12)}.css`
  const page = docsPage({ stylesheet }).text
  const router = Router()
  const compress = compression()
  endpoint(router, '/openapi.json', {
    get: [
      compress,
      (_request, response) => {
        // Tools in a browser on another origin may read it: there is nothing in it that is not public.
        response.set({
          'Cache-Control': HOUR_CACHE,
          'Access-Control-Allow-Origin': '*',
          'Cross-Origin-Resource-Policy': 'cross-origin',
        })
        response.type('application/json').send(description)
      },
    ],
  })
  endpoint(router, '/docs', {
    get: [
      compress,
      (_request, response) => {
        response.set({ 'Content-Security-Policy': POLICY, 'Cache-Control': HOUR_CACHE }).type('text/html').send(page)
      },
    ],
  })
  endpoint(router, stylesheet, {
    get: [
      compress,
      (_request, response) => {
        response.set('Cache-Control', 'public, max-age=31536000, immutable').type('text/css').send(style)
      },
    ],
  })
  return router
}
