import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, parse } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { BundleAssets } from './assets.ts'

const PAGES = fileURLToPath(new URL('..', import.meta.url))
/** Browsers of the last two years and a half. */
const TARGET = ['chrome115', 'firefox115', 'safari16.4']

/** Makes what the pages load: style sheets as they are, and scripts, each bundled from its TypeScript file. */
export const bundleAssets: BundleAssets = (files) =>
  Promise.all(
    files.map(async (file) => {
      const { name, ext } = parse(file)
      const [extension, content] = ext === '.css' ? ['css', await style(file)] : ['js', await script(file)]
      const digest = createHash('sha256').update(content).digest('hex').slice(0, 12)
      return { name: `${name}.${extension}`, file: `${name}-${digest}.${extension}`, content }
    }),
  )

const style = (file: string): Promise<string> => readFile(join(PAGES, file), 'utf8')

async function script(file: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [join(PAGES, file)],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: TARGET,
  })
  return outputFiles[0]?.text ?? ''
}
