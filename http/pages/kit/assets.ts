import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { type RequestHandler, Router } from 'express'
import { hexColor, themeOf } from './colors.ts'

const PAGES = fileURLToPath(new URL('..', import.meta.url))
/** Browsers of the last two years and a half. */
const TARGET = ['chrome115', 'firefox115', 'safari16.4']
const FOREVER = 'public, max-age=31536000, immutable'

export interface Assets {
  /** Address of a file under `/assets/`; it changes with its content. */
  path(name: string): string
  router: Router
}

interface Asset {
  type: string
  content: string
}

/**
 * What the pages load from our own origin: style sheets as they are, and scripts, each bundled from its TypeScript file (paths from
 * `http/pages/`; a name is served without its folder).
 * All of it is made once at the start and kept in memory.
 */
export function createAssets(files: string[]): Assets {
  const made = files.map((file): [string, Asset] => {
    const { name, ext } = parse(file)
    return ext === '.css' ? [`${name}.css`, style(file)] : [`${name}.js`, script(file)]
  })
  const paths = new Map<string, string>()
  const assets = new Map<string, Asset>()
  for (const [name, asset] of made) {
    const digest = createHash('sha256').update(asset.content).digest('hex').slice(0, 12)
    const [stem, extension] = name.split('.')
    paths.set(name, `/assets/${stem}-${digest}.${extension}`)
    assets.set(`${stem}-${digest}.${extension}`, asset)
  }
  const router = Router()
  router.get('/theme-:color.css', theme)
  router.get('/:file', (request, response, next) => {
    const asset = assets.get(request.params.file)
    if (!asset) return next()
    response.set('Cache-Control', FOREVER).type(asset.type).send(asset.content)
  })
  return { path: (name) => paths.get(name) ?? `/assets/${name}`, router }
}

function script(file: string): Asset {
  const { outputFiles } = buildSync({
    entryPoints: [join(PAGES, file)],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: TARGET,
  })
  return { type: 'text/javascript', content: outputFiles[0]?.text ?? '' }
}

const style = (file: string): Asset => ({
  type: 'text/css',
  content: readFileSync(join(PAGES, file), 'utf8'),
})

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
