import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type RequestHandler, Router } from 'express'
import { z } from 'zod'
import { hexColor, themeOf } from './colors.ts'

const FOREVER = 'public, max-age=31536000, immutable'

/**
 * What the pages load from our own origin: style sheets and scripts, by their paths from `http/pages/`. Each is served without its folder,
 * a script under the name of what is made of it.
 */
export const PAGE_ASSETS = [
  'kit/assets/pages.css',
  'start/assets/start.css',
  'start/assets/start.ts',
  'manage/assets/manage.css',
  'manage/assets/manage.ts',
  '../portal/assets/portal.css',
  '../portal/assets/portal.ts',
]

const asset = z.object({
  /** As the pages name it. */
  name: z.string(),
  /** As it is served: changes with its content. */
  file: z.string(),
  content: z.string(),
})
const assetList = z.array(asset)

type Asset = z.infer<typeof asset>
export type BundleAssets = (files: readonly string[]) => Promise<Asset[]>

/** Where `npm run build` puts the assets, and nobody else. */
export const BUILT_ASSETS = 'built-assets.json'

export interface Assets {
  /** Address of a file under `/assets/`. */
  path(name: string): string
  router: Router
}

/** All of them are read, or made where nothing was built, once at the start and kept in memory. */
export async function createAssets(): Promise<Assets> {
  const assets = await loadAssets()
  const byFile = new Map(assets.map((each) => [each.file, each]))
  const byName = new Map(assets.map((each) => [each.name, each]))
  const router = Router()
  router.get('/theme-:color.css', theme)
  router.get('/:file', (request, response, next) => {
    const found = byFile.get(request.params.file)
    if (!found) return next()
    const type = found.file.endsWith('.css') ? 'text/css' : 'text/javascript'
    response.set('Cache-Control', FOREVER).type(type).send(found.content)
  })
  return { path: (name) => `/assets/${byName.get(name)?.file ?? name}`, router }
}

async function loadAssets(): Promise<Asset[]> {
  const built = new URL(BUILT_ASSETS, import.meta.url)
  if (existsSync(built)) return assetList.parse(JSON.parse(await readFile(built, 'utf8')))
  // Not named in an import: the bundler is no part of what is built.
  const { bundleAssets } = (await import(new URL('bundle-assets.ts', import.meta.url).href)) as {
    bundleAssets: BundleAssets
  }
  return bundleAssets(PAGE_ASSETS)
}

/** The colours of one app as custom properties: a file of its own, since the policy of the pages allows no inline style. */
const theme: RequestHandler<{ color: string }> = (request, response, next) => {
  const color = hexColor(request.params.color)
  if (color === null) return next()
  const { brand, onBrand, ink } = themeOf(color)
  response
    .set('Cache-Control', FOREVER)
    .type('text/css')
    .send(`:root{--brand:#${brand};--on-brand:#${onBrand};--brand-ink:#${ink}}`)
}
