import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

export interface SourceFile {
  /** From the project's root, with forward slashes. */
  path: string
  source: string
}

const SOURCE = /\.(?:[cm]?[jt]s|tsx)$/
const SKIPPED = new Set(['node_modules', 'docs', 'dist'])

/** Every source file in the folders of the house. */
export async function readProject(): Promise<SourceFile[]> {
  const folders = (await readdir(root, { withFileTypes: true })).filter(
    (entry) => entry.isDirectory() && !entry.name.startsWith('.') && !SKIPPED.has(entry.name),
  )
  const found = await Promise.all(
    folders.map(({ name }) => readdir(join(root, name), { recursive: true, withFileTypes: true })),
  )
  const paths = found
    .flat()
    .filter((entry) => entry.isFile() && SOURCE.test(entry.name))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => !path.split(sep).some((part) => SKIPPED.has(part)))
    .sort()
  return Promise.all(
    paths.map(async (path) => ({
      path: path.replaceAll(sep, '/'),
      source: await readFile(join(root, path), 'utf8'),
    })),
  )
}

/** The pages about the project: those of `docs/`, and the README. */
export async function readPages(): Promise<SourceFile[]> {
  const names = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'))
  const paths = ['README.md', ...names.map((name) => `docs/${name}`)]
  return Promise.all(paths.map(async (path) => ({ path, source: await readFile(join(root, path), 'utf8') })))
}
