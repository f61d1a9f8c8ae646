import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { BUILT_ASSETS, PAGE_ASSETS } from '../http/pages/kit/assets.ts'
import { bundleAssets } from '../http/pages/kit/bundle-assets.ts'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
/** Sources of what the pages load lie in folders of this name. */
const ASSET_SOURCES = 'assets'

/**
 * Fills a folder with what runs without a compiler: JavaScript with source maps for the programs that a tsconfig file names, the files
 * that the programs of these folders read, and the assets of the pages. Rejects with the compiler's words.
 */
export async function compile({
  target,
  config,
  folders,
  checkTypes,
}: {
  target: string
  /** From the project's root, as are the folders. */
  config: string
  folders: string[]
  checkTypes: boolean
}): Promise<void> {
  const compiler = [join(ROOT, 'node_modules/typescript/bin/tsc'), '-p', join(ROOT, config), '--outDir', target]
  if (!checkTypes) compiler.push('--noCheck')
  await promisify(execFile)(process.execPath, compiler).catch((error: { stdout?: string }) => {
    throw new Error(error.stdout || String(error))
  })
  await Promise.all(folders.map((folder) => copyOthers({ folder, target })))
  await writeFile(join(target, 'http/pages/kit', BUILT_ASSETS), JSON.stringify(await bundleAssets(PAGE_ASSETS)))
}

/** Whatever is no source. */
async function copyOthers({ folder, target }: { folder: string; target: string }): Promise<void> {
  for (const entry of await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || /\.tsx?$/.test(entry.name) || entry.parentPath.endsWith(ASSET_SOURCES)) continue
    const file = join(entry.parentPath, entry.name)
    const copy = join(target, relative(ROOT, file))
    await mkdir(dirname(copy), { recursive: true })
    await copyFile(file, copy)
  }
}
