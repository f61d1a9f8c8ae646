import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'

const test = suite('the life of a process')
const FIXTURE = fileURLToPath(new URL('process-fixture.ts', import.meta.url))
const GOOD = {
  MONGODB_URL: 'mongodb://127.0.0.1:1/ccs',
  MASTER_KEY: Buffer.alloc(32).toString('base64'),
  BASE_URL: 'http://127.0.0.1:1',
  OPERATOR_KEY: 'x'.repeat(32),
  PROVIDER_SITE: 'http://127.0.0.1:1',
}

function start(what: string, env: Record<string, string> = {}) {
  const child = fork(FIXTURE, [what], {
    env: { ...process.env, ...GOOD, ...env },
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout?.on('data', (text) => {
    stdout += text
  })
  child.stderr?.on('data', (text) => {
    stderr += text
  })
  const ended = once(child, 'close').then(([status]) => ({ status, stdout, stderr }))
  return { child, ended }
}

const STOPPED = 'second stopped\nfirst stopped\n'

test('it tells its parent when it is ready, and stops its parts on SIGTERM', async () => {
  const { child, ended } = start('runs')
  const [message] = await once(child, 'message')
  assert.equal(message, { ready: true, url: 'somewhere' })
  child.kill('SIGTERM')
  const { status, stdout } = await ended
  assert.equal([status, stdout], [0, STOPPED])
})

test('a start that fails half-way stops what had started, and is status 1', async () => {
  const { status, stdout, stderr } = await start('fails').ended
  assert.equal([status, stdout], [1, STOPPED])
  assert.match(stderr, /the third cannot start/)
})

test('one that is ended while it starts stops what had started, and is status 0', async () => {
  const { child, ended } = start('hangs')
  await once(child, 'message')
  child.kill('SIGTERM')
  const { status, stdout } = await ended
  assert.equal([status, stdout], [0, STOPPED])
})

test('it ends with its parent', async () => {
  const { child } = start('runs')
  await once(child, 'message')
  const exited = once(child, 'exit')
  child.disconnect()
  assert.equal(await exited, [0, null])
})

test('a wrong configuration is one line and status 1', async () => {
  const { status, stdout, stderr } = await start('runs', { PORT: 'many' }).ended
  assert.equal([status, stdout], [1, ''])
  assert.match(stderr, /^fixture cannot start: PORT: [^\n]+\n$/)
})

test.run()
