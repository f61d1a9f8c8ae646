import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type HttpWorld, OPERATOR_KEY, startHttpWorld } from '../support/http.ts'

const PROGRAM = fileURLToPath(new URL('../../start/app.ts', import.meta.url))
let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
})
test.after(async () => {
  await world.stop()
})

const run = (...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> =>
  new Promise((resolve) => {
    const env = { ...process.env, BASE_URL: world.url, OPERATOR_KEY, NODE_OPTIONS: '' }
    execFile(process.execPath, ['--import', 'tsx', PROGRAM, ...args], { env }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, stdout, stderr }),
    )
  })

const NEW = ['create', '--app-id', 'by-command', '--name', 'By command', '--contact-email', 'a@example.test']

test('an app is taken on from the command line', async () => {
  const { status, stdout } = await run(...NEW, '--requests-per-minute', '90')
  assert.is(status, 0)
  const app = JSON.parse(stdout)
  assert.is(app.appId, 'by-command')
  assert.match(app.signInUrl, /\/developers\/sign-in\/link\?token=/, 'the first owner is invited')
  const answer = await world.ask('/api/connections?userRef=x', { key: app.apiKey })
  assert.equal([answer.status, answer.headers.get('ratelimit-limit')], [404, '90'])
  assert.equal(await run(...NEW), { status: 1, stdout: '', stderr: 'App already exists\n' })
})

test('what is wrong is one clear line', async () => {
  const wrong = await run('create', '--app-id', 'x', '--name', 'X')
  assert.equal([wrong.status, wrong.stdout], [1, ''])
  assert.match(wrong.stderr, /^Invalid contactEmail parameter/)
  assert.match((await run('remove')).stderr, /^Usage: /)
  assert.match((await run(...NEW, '--base-url', 'http://127.0.0.1:64999')).stderr, /cannot be reached \(ECONNREFUSED\)/)
})

test.run()
