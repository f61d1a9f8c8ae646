import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checkFile } from './check-file.ts'
import { checkMentions, indexDocument } from './mentions.ts'
import { readProject, root } from './project.ts'

/** Prints `file:line message` for each violation in the project; exit status 1 if there is one. */
const files = await readProject()
const names = (await readdir(join(root, 'docs'))).filter((name) => name.endsWith('.md'))
const documents = new Map(
  await Promise.all(
    names.map(async (name) => [name, indexDocument(await readFile(join(root, 'docs', name), 'utf8'))] as const),
  ),
)

let count = 0
for (const file of files) {
  const inBrowser = file.path.includes('/public/')
  const violations = [
    // Served to browsers as it is and never loaded by a process: it has no core/clock to take the time from.
    ...(inBrowser ? [] : checkFile(file)),
    ...(file.path.startsWith('test/boundaries/') ? [] : checkMentions({ source: file.source, documents })),
  ]
  for (const { line, message } of violations) {
    count += 1
    console.log(`${file.path}:${line} ${message}`)
  }
}
process.exit(count > 0 ? 1 : 0)
