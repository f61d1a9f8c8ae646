import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { SUITE_VARIABLE } from './leaks.ts'
import { runLimited } from './processes.ts'

/** Suites in this folder start browsers and whole services: one at a time, and with more patience. */
const SERIAL_FOLDER = join('test', 'e2e')
const MINUTE = 60_000
const LIMITS = {
  unit: { ms: 4 * MINUTE, reason: 'a suite on the real database takes seconds, its property tests a minute' },
  serial: { ms: 8 * MINUTE, reason: 'a whole path through a real browser, with kills and waits of the service' },
}
const UNIT_AT_ONCE = 2

export interface Result {
  name: string
  passed: number
  failed: number
  /** What a person has to read where something failed. */
  output: string
  ms: number
}

/** Paths, from `root`, of every suite whose path contains `filter`. */
export async function findSuites({ root, filter }: { root: string; filter: string }): Promise<string[]> {
  const entries = await readdir(join(root, 'test'), { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .filter((path) => path.includes(filter))
    .sort()
}

/** Runs suites, each as a process of its own; `report` hears of each as it ends. None begins once `signal` is aborted. */
export async function runSuites({
  suites,
  root,
  env,
  report,
  signal,
}: {
  suites: string[]
  root: string
  env: NodeJS.ProcessEnv
  report: (result: Result) => void
  signal: AbortSignal
}): Promise<void> {
  const isSerial = (path: string): boolean => path.startsWith(SERIAL_FOLDER)
  const run = async (queue: string[], limit: (typeof LIMITS)['unit']): Promise<void> => {
    for (let path = queue.shift(); path !== undefined && !signal.aborted; path = queue.shift()) {
      report(await runSuite({ path, root, env, limit }))
    }
  }
  const units = suites.filter((path) => !isSerial(path))
  await Promise.all(Array.from({ length: UNIT_AT_ONCE }, () => run(units, LIMITS.unit)))
  await run(suites.filter(isSerial), LIMITS.serial)
}

async function runSuite({
  path,
  root,
  env,
  limit,
}: {
  path: string
  root: string
  env: NodeJS.ProcessEnv
  limit: { ms: number; reason: string }
}): Promise<Result> {
  const start = performance.now()
  const args = ['--import', 'tsx', join(root, path)]
  const suiteEnv = { ...env, [SUITE_VARIABLE]: path }
  const { status, output, timedOut } = await runLimited({
    command: process.execPath,
    args,
    env: suiteEnv,
    limitMs: limit.ms,
  })
  const { passed, failed } = readSummary(stripVTControlCharacters(output))
  // A suite that dies without a summary, or fails outside of its tests, is one failure at least.
  const broken = status !== 0 || passed + failed === 0
  const why = timedOut ? `\nkilled after ${limit.ms / 1_000} s (${limit.reason})` : `\nended with status ${status}`
  return {
    name: path,
    passed,
    failed: broken ? Math.max(failed, 1) : failed,
    output: broken || failed > 0 ? `${output.trimEnd()}${why}` : '',
    ms: performance.now() - start,
  }
}

/** uvu's own summary: `Total`, `Passed`, `Skipped`; skipped tests are neither passed nor failed. */
export function readSummary(output: string): { passed: number; failed: number } {
  const sum = (label: string): number =>
    [...output.matchAll(new RegExp(`^\\s*${label}:\\s+(\\d+)\\s*$`, 'gm'))].reduce((all, [, n]) => all + Number(n), 0)
  const passed = sum('Passed')
  return { passed, failed: Math.max(0, sum('Total') - passed - sum('Skipped')) }
}
