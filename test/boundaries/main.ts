import { basename } from 'node:path/posix'
import { isAside, isEntry, TESTED_ALONE } from './alive.ts'
import { checkFile, checkPlace, type Violation } from './check-file.ts'
import { findCycles } from './cycles.ts'
import { findDeadCode } from './dead-code.ts'
import { importGraph } from './imports.ts'
import { checkMentions, checkPaths, indexDocument } from './mentions.ts'
import { readPages, readProject } from './project.ts'

/** Prints `file:line message` for each violation in the project; exit status 1 if there is one. */
const files = await readProject()
const pages = await readPages()
const documents = new Map(pages.map(({ path, source }) => [basename(path), indexDocument(source)]))
const paths = new Set(files.map(({ path }) => path))

let count = 0
const tell = (path: string, violations: Violation[]): void => {
  for (const { line, message } of violations) console.log(`${path}:${line} ${message}`)
  count += violations.length
}

for (const file of files) {
  // Served to browsers as it is and never loaded by a process: it has no core/clock to take the time from.
  if (!file.path.includes('/public/')) tell(file.path, [...checkPlace(file), ...checkFile(file)])
  // The checks' own tests have examples.
  if (!file.path.startsWith('test/boundaries/')) tell(file.path, checkMentions({ source: file.source, documents }))
}
for (const { path, source } of pages) tell(path, checkPaths({ source, paths }))
for (const cycle of findCycles(importGraph(files))) {
  tell(cycle[0] ?? '', [{ line: 1, message: `imports run in a circle through ${cycle.join(', ')}` }])
}
const dead = findDeadCode({ files, isEntry, isAside })
for (const path of dead.files) tell(path, [{ line: 1, message: 'nobody imports this file' }])
for (const key of dead.exports) {
  const [path = '', name = ''] = key.split('#')
  if (!(key in TESTED_ALONE)) tell(path, [{ line: 1, message: `nobody else uses ${name}: export it no more` }])
}
for (const key of Object.keys(TESTED_ALONE)) {
  if (!dead.exports.includes(key)) tell('test/boundaries/alive.ts', [{ line: 1, message: `${key} needs no reason` }])
}
process.exit(count > 0 ? 1 : 0)
