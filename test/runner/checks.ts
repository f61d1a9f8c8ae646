import { join } from 'node:path'
import { runLimited } from './processes.ts'
import type { Result } from './suites.ts'

const LIMIT_MS = 180_000

/** What is checked without running the service: types, lint and the borders between folders. Each counts as one test. */
const CHECKS = [
  { name: 'types', args: ['node_modules/typescript/bin/tsc', '--noEmit'] },
  { name: 'lint', args: ['node_modules/@biomejs/biome/bin/biome', 'check', '.'] },
  { name: 'boundaries', args: ['--import', 'tsx', join('test', 'boundaries', 'main.ts')] },
]

/** Runs the checks whose name contains `filter`, one after the other. */
export async function runChecks({
  filter,
  env,
  report,
}: {
  filter: string
  env: NodeJS.ProcessEnv
  report: (result: Result) => void
}): Promise<void> {
  for (const { name, args } of CHECKS.filter((check) => check.name.includes(filter))) {
    const start = performance.now()
    const { status, output } = await runLimited({ command: process.execPath, args, env, limitMs: LIMIT_MS })
    const ok = status === 0
    report({
      name,
      passed: ok ? 1 : 0,
      failed: ok ? 0 : 1,
      output: ok ? '' : output.trimEnd(),
      ms: performance.now() - start,
    })
  }
}
