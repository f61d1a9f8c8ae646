import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const MAIN = fileURLToPath(new URL('../../sandbox/main.ts', import.meta.url))

async function start(env: Record<string, string>): Promise<{ child: ChildProcess; url: string }> {
  const child = fork(MAIN, { execArgv: ['--import', 'tsx'], env: { ...process.env, ...env }, stdio: 'pipe' })
  const [message] = await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [null])])
  const url: unknown = message?.url
  assert.equal(message, { ready: true, url })
  return { child, url: String(url) }
}

test('the process says when it is ready, and ends on a signal and without its parent', async () => {
  const ends: ((child: ChildProcess) => unknown)[] = [
    (child) => child.kill('SIGTERM'),
    (child) => child.kill('SIGINT'),
    (child) => child.disconnect(),
  ]
  for (const end of ends) {
    const { child, url } = await start({ PORT: '0' })
    assert.is((await fetch(`${url}/login`)).status, 200)
    const exit = once(child, 'exit')
    end(child)
    assert.equal(await exit, [0, null])
  }
})

test('a port that is taken ends it with one line', async () => {
  const { child, url } = await start({ PORT: '0' })
  try {
    const second = fork(MAIN, {
      execArgv: ['--import', 'tsx'],
      env: { ...process.env, PORT: new URL(url).port },
      stdio: 'pipe',
    })
    let text = ''
    second.stderr?.on('data', (chunk) => {
      text += chunk
    })
    const [code] = await once(second, 'close')
    assert.is(code, 1)
    assert.match(text, /^The sandbox provider cannot start: .*EADDRINUSE.*\n$/)
  } finally {
    const exit = once(child, 'exit')
    child.kill()
    await exit
  }
})

test.run()
