import { readdir, readFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkFile } from './check-file.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const SOURCE = /\.(?:[cm]?[jt]s|tsx)$/
const SKIPPED = new Set(['node_modules', 'docs', 'dist'])
/** Served to browsers and never loaded by a process: they have no core/clock to take the time from. */
const IN_BROWSER = `${sep}public${sep}`

/** Prints `file:line message` for each violation in the project; exit status 1 if there is one. */
let count = 0
for (const folder of await readdir(root, { withFileTypes: true })) {
  if (!folder.isDirectory() || folder.name.startsWith('.') || SKIPPED.has(folder.name)) continue
  for (const entry of await readdir(join(root, folder.name), { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    const path = relative(root, file)
    if (!entry.isFile() || !SOURCE.test(entry.name) || path.includes(IN_BROWSER)) continue
    if (path.split(sep).some((part) => SKIPPED.has(part))) continue
    const source = await readFile(file, 'utf8')
    for (const { line, message } of checkFile({ path: path.replaceAll(sep, '/'), source })) {
      count += 1
      console.log(`${path}:${line} ${message}`)
    }
  }
}
process.exit(count > 0 ? 1 : 0)
