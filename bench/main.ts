import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { ACTORS_ARGUMENTS } from '../start/node-arguments.ts'
import { findBrowser } from '../start/set-up/browser.ts'
import { startDatabase } from '../start/set-up/database/start-database.ts'
import { type Row, rounded } from './row.ts'

/** What is in this folder beside the benches themselves. */
const NO_BENCH = new Set(['main.ts', 'row.ts'])

const folder = import.meta.dirname
const filter = process.argv.slice(2).find((argument) => !argument.startsWith('-')) ?? ''
const progress = (message: string): void => void process.stderr.write(`${message}\n`)

/** `npm run bench [part of a name]`: each bench as a process of its own on a database of its own; prints a table of their rows. */
async function runAll(env: NodeJS.ProcessEnv): Promise<{ rows: Row[]; broken: string[] }> {
  const files = (await readdir(folder)).filter(
    (name) => name.endsWith('.ts') && !NO_BENCH.has(name) && name.includes(filter),
  )
  const rows: Row[] = []
  const broken: string[] = []
  for (const file of files.sort()) {
    progress(`Running ${file}`)
    const child = spawn(process.execPath, [...ACTORS_ARGUMENTS, join(folder, file)], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    for await (const line of createInterface(child.stdout)) rows.push(JSON.parse(line) as Row)
    if (child.exitCode === null) await new Promise((resolve) => child.once('exit', resolve))
    if (child.exitCode !== 0) broken.push(file)
  }
  return { rows, broken }
}

const met = ({ ratio, goal }: Row): boolean => ('atLeast' in goal ? ratio >= goal.atLeast : ratio <= goal.atMost)
const wanted = ({ goal }: Row): string => ('atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`)

function table(rows: Row[]): string {
  const cells = [
    ['what', 'ours', 'floor', 'ratio', 'goal', ''],
    ...rows.map((row) => [row.what, row.ours, row.floor, rounded(row.ratio), wanted(row), met(row) ? 'met' : 'MISSED']),
  ]
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0))) ?? []
  return cells
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

const dataDir = await mkdtemp(join(tmpdir(), 'ccs-bench-'))
const database = await startDatabase({ dataDir, progress })
try {
  const browser = await findBrowser({ log: progress, chromiumPath: process.env['CHROMIUM_PATH'] })
  const { rows, broken } = await runAll({ ...process.env, TEST_DATABASE_URL: database.url(''), CHROMIUM_PATH: browser })
  process.stdout.write(`${table(rows)}\n`)
  for (const file of broken) progress(`${file} did not end well`)
  process.exitCode = broken.length > 0 ? 1 : 0
} finally {
  await database.stop()
  await rm(dataDir, { recursive: true, force: true })
}
