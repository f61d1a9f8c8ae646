import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { BUILT_ASSETS, PAGE_ASSETS } from '../http/pages/kit/assets.ts'
import { bundleAssets } from '../http/pages/kit/bundle-assets.ts'

/**
 * `npm run build [folder]`: makes `dist/`, which runs without a compiler: JavaScript with source maps for the programs that `tsconfig.json`
 * beside this file names, the files that they read, and the assets of the pages.
 */
const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const target = resolve(process.argv[2] ?? join(ROOT, 'dist'))
const PROGRAM_FOLDERS = ['core', 'wire', 'schemas', 'provider', 'actors', 'browser-farm', 'http', 'tui']
/** Sources of what the pages load lie in folders of this name. */
const ASSET_SOURCES = 'assets'

await rm(target, { recursive: true, force: true })
const compiler = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', join(ROOT, 'deploy/tsconfig.json')]
await promisify(execFile)(process.execPath, [...compiler, '--outDir', target]).catch((error: { stdout?: string }) => {
  process.stderr.write(`${error.stdout || String(error)}\n`)
  process.exit(1)
})
for (const folder of PROGRAM_FOLDERS) {
  for (const entry of await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || /\.tsx?$/.test(entry.name) || entry.parentPath.endsWith(ASSET_SOURCES)) continue
    const file = join(entry.parentPath, entry.name)
    await mkdir(dirname(join(target, relative(ROOT, file))), { recursive: true })
    await copyFile(file, join(target, relative(ROOT, file)))
  }
}
await writeFile(join(target, 'http/pages/kit', BUILT_ASSETS), JSON.stringify(await bundleAssets(PAGE_ASSETS)))
