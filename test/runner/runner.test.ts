import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { findLeaks, SUITE_VARIABLE } from './leaks.ts'
import { runLimited } from './processes.ts'
import { findSuites, type Result, readSummary, runSuites } from './suites.ts'

const test = suite('runner')
let root = ''

test.before.each(async () => {
  root = await mkdtemp(join(tmpdir(), 'ccs-runner-'))
  await mkdir(join(root, 'test', 'e2e'), { recursive: true })
})
test.after.each(() => rm(root, { recursive: true, force: true }))

const summary = ({ total, passed }: { total: number; passed: number }): string =>
  `console.log('\\n  Total:     ${total}\\n  Passed:    ${passed}\\n  Skipped:   0\\n  Duration:  1ms\\n')`

test('the summary of a suite is read, skipped tests apart', () => {
  assert.equal(readSummary('  Total:     5\n  Passed:    3\n  Skipped:   1\n'), { passed: 3, failed: 1 })
  assert.equal(readSummary('nothing'), { passed: 0, failed: 0 })
})

test('what fails, crashes or says nothing counts as failed, whatever its output says', async () => {
  const files: Record<string, string> = {
    'good.test.ts': summary({ total: 2, passed: 2 }),
    'bad.test.ts': `${summary({ total: 3, passed: 1 })}; process.exit(1)`,
    'crash.test.ts': `${summary({ total: 2, passed: 2 })}; throw new Error('late crash')`,
    'silent.test.ts': '',
    'e2e/path.test.ts': summary({ total: 1, passed: 1 }),
    'helper.ts': 'throw new Error("no suite")',
  }
  for (const [name, source] of Object.entries(files)) await writeFile(join(root, 'test', name), source)
  const results = new Map<string, Result>()
  const suites = await findSuites({ root, filter: '' })
  const report = (result: Result) => void results.set(result.name, result)
  const { signal } = new AbortController()
  await runSuites({ suites, root, env: process.env, report, signal })
  const counts = (name: string) => {
    const result = results.get(join('test', name))
    return [result?.passed, result?.failed]
  }
  assert.is(results.size, 5)
  assert.equal(counts('good.test.ts'), [2, 0])
  assert.equal(counts('bad.test.ts'), [1, 2])
  assert.equal(counts('crash.test.ts'), [2, 1])
  assert.equal(counts('silent.test.ts'), [0, 1])
  assert.equal(counts('e2e/path.test.ts'), [1, 0])
  assert.match(results.get(join('test', 'crash.test.ts'))?.output ?? '', /late crash/)
  assert.equal(await findSuites({ root, filter: 'e2e' }), [join('test', 'e2e', 'path.test.ts')])

  results.clear()
  await runSuites({ suites, root, env: process.env, report, signal: AbortSignal.abort() })
  assert.is(results.size, 0)
})

test('a program that goes on for too long is killed with all that it started', async () => {
  const env = { ...process.env, TMPDIR: root }
  const outcome = await runLimited({ command: 'sh', args: ['-c', 'sleep 1000 & wait'], env, limitMs: 300 })
  assert.is(outcome.timedOut, true)
  assert.equal(await findLeaks({ folder: root }), [])
})

test('a process that is left behind is found, with its suite', async () => {
  const env = { ...process.env, TMPDIR: root, [SUITE_VARIABLE]: 'test/some.test.ts' }
  const left = spawn('sleep', ['1000'], { env, detached: true, stdio: 'ignore' })
  const leaks = await findLeaks({ folder: root })
  left.kill('SIGKILL')
  assert.equal(leaks, [{ pid: left.pid, command: 'sleep 1000', suite: 'test/some.test.ts' }])
  await new Promise((resolve) => left.once('close', resolve))
  assert.equal(await findLeaks({ folder: root }), [])
})

test.run()
