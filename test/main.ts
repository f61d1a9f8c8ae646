import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findBrowser } from '../start/set-up/browser.ts'
import { type Database, startDatabase } from '../start/set-up/database/start-database.ts'
import { runChecks } from './runner/checks.ts'
import { findLeaks } from './runner/leaks.ts'
import { killAll } from './runner/processes.ts'
import { findSuites, type Result, runSuites } from './runner/suites.ts'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
process.chdir(root)
const filter = process.argv.slice(2).find((argument) => !argument.startsWith('-')) ?? ''
const progress = (message: string): void => void process.stderr.write(`${message}\n`)

const folder = await mkdtemp(join(tmpdir(), 'ccs-test-'))
const abort = new AbortController()
let database: Database | undefined
const results: Result[] = []

function report(result: Result): void {
  results.push(result)
  const counts = `${result.passed} passed${result.failed > 0 ? `, ${result.failed} failed` : ''}`
  console.log(`${result.failed > 0 ? 'FAIL' : 'ok  '} ${result.name} (${counts}, ${(result.ms / 1_000).toFixed(1)} s)`)
  if (result.output !== '') console.log(`${result.output}\n`)
}

async function cleanUp(): Promise<void> {
  await database?.stop()
  await rm(folder, { recursive: true, force: true })
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    abort.abort(new Error('interrupted'))
    killAll()
  })
}

async function reportLeaks(runFolder: string): Promise<void> {
  const leaks = await findLeaks({ folder: runFolder })
  const lines = leaks.map(({ pid, command, suite }) => `${pid} ${command} (of ${suite ?? 'an unknown suite'})`)
  for (const { pid } of leaks) process.kill(pid, 'SIGKILL')
  if (leaks.length > 0) {
    report({ name: 'processes left behind', passed: 0, failed: leaks.length, output: lines.join('\n'), ms: 0 })
  }
}

try {
  await runChecks({ filter, env: process.env, report })
  abort.signal.throwIfAborted()
  const suites = await findSuites({ root, filter })
  if (suites.length > 0) {
    const [databaseResult, browserResult] = await Promise.allSettled([
      startDatabase({ dataDir: join(folder, 'database'), progress, signal: abort.signal }),
      findBrowser({ log: progress, chromiumPath: process.env['CHROMIUM_PATH'], signal: abort.signal }),
    ])
    if (databaseResult.status === 'rejected') throw databaseResult.reason
    database = databaseResult.value
    if (browserResult.status === 'rejected') throw browserResult.reason
    // Temporary files of suites lie here, which also tells their processes from all others.
    const runFolder = join(folder, 'suites')
    await mkdir(runFolder)
    const { MONGODB_URL: _external, ...rest } = process.env
    const env = {
      ...rest,
      TEST_DATABASE_URL: database.url(''),
      CHROMIUM_PATH: browserResult.value,
      TMPDIR: runFolder,
    }
    await runSuites({ suites, root, env, report, signal: abort.signal })
    await reportLeaks(runFolder)
  }
} catch (error) {
  report({ name: 'set-up', passed: 0, failed: 1, output: String(error), ms: 0 })
}
await cleanUp()
const sum = (key: 'passed' | 'failed'): number => results.reduce((all, result) => all + result[key], 0)
if (results.length === 0) {
  progress(`Nothing matches "${filter}"`)
  process.exit(1)
}
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed`)
process.exit(abort.signal.aborted ? 130 : sum('failed') > 0 ? 1 : 0)
