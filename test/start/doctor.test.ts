import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createNetServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createKeyring } from '../../core/envelope.ts'
import { sandboxProfile } from '../../provider/profile.ts'
import { createApp } from '../../schemas/app/apps.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { createIndexes } from '../../schemas/indexes.ts'
import { connectedTestDatabase } from '../support/database.ts'

const run = promisify(execFile)
const ROOT = new URL('../..', import.meta.url).pathname

/** What the doctor says, with the variables given and nothing else of the service. */
async function ask(env: Record<string, string>): Promise<{ status: number; lines: string[]; log: string }> {
  const { PATH = '', HOME = '', CHROMIUM_PATH = '' } = process.env
  const options = { cwd: ROOT, env: { PATH, HOME, CHROMIUM_PATH, ...env } }
  const end = await run(process.execPath, ['start/bootstrap.js', 'doctor'], options).then(
    (said) => ({ status: 0, ...said }),
    (error: { code: number; stdout: string; stderr: string }) => ({ status: error.code, ...error }),
  )
  return { status: end.status, lines: end.stdout.trim().split('\n'), log: end.stderr }
}

test('a machine that is as it has to be', async () => {
  const database = await connectedTestDatabase()
  const site = createServer((_request, response) => response.writeHead(401).end())
  await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}`
  try {
    await createIndexes()
    const { status, lines } = await ask({ MONGODB_URL: database.url, PROVIDER_SITE: url })
    assert.is(status, 0, lines.join('\n'))
    for (const about of [
      'configuration',
      'database',
      'indexes',
      'write concern',
      'clock',
      'browser',
      'provider sandbox-assistant',
    ])
      assert.ok(
        lines.some((line) => line.startsWith(`ok       ${about}: `)),
        `${about}\n${lines.join('\n')}`,
      )
    const keyring = createKeyring([Buffer.alloc(32, 1)])
    const made = { name: 'One', contactEmail: 'x@example.test', createdBy: 'test', now: new Date() }
    await createApp({ appId: 'one', keyring, ...made })
    const env = { MONGODB_URL: database.url, PROVIDER_SITE: url }
    const right = await ask({ ...env, MASTER_KEY: Buffer.alloc(32, 1).toString('base64') })
    assert.match(right.lines.join('\n'), /^ok {7}master key: it opens/m)
    const another = await ask({ ...env, MASTER_KEY: Buffer.alloc(32, 2).toString('base64') })
    assert.is(another.status, 1)
    assert.match(another.lines.join('\n'), /^wrong {4}master key: .* MASTER_KEY.* OLD_MASTER_KEYS/m)
    const rotated = { MASTER_KEY: Buffer.alloc(32, 2), OLD_MASTER_KEYS: Buffer.alloc(32, 1) }
    const both = Object.fromEntries(Object.entries(rotated).map(([name, key]) => [name, key.toString('base64')]))
    assert.is((await ask({ ...env, ...both })).status, 0)
    await Connections.collection.dropIndexes()
    const without = await ask({ MONGODB_URL: database.url, PROVIDER_SITE: url })
    assert.is(without.status, 1)
    assert.match(without.lines.join('\n'), /wrong {4}indexes: missing: connections .*start any process/)
  } finally {
    site.close()
    await database.stop()
  }
})

test('each thing that is wrong is one line', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ccs-doctor-'))
  const profiles = join(folder, 'profiles.json')
  const profile = { ...sandboxProfile('http://127.0.0.1:9'), cookieDomain: 'elsewhere.example' }
  try {
    await writeFile(profiles, JSON.stringify([profile]))
    const { status, lines } = await ask({
      MONGODB_URL: 'mongodb://user:hidden@127.0.0.1:9/x',
      SMTP_URL: 'smtp://user:hidden@127.0.0.1:9',
      PROVIDER_PROFILES: profiles,
      CHROMIUM_PATH: '/nowhere',
    })
    assert.is(status, 1)
    const text = lines.join('\n')
    assert.match(text, /^wrong {4}database: it does not answer .*check MONGODB_URL/m)
    assert.match(text, /^wrong {4}mail: .*SMTP_URL/m)
    assert.match(text, /^wrong {4}browser: CHROMIUM_PATH/m)
    assert.match(text, /^wrong {4}provider \S+: loginUrl does not answer/m)
    assert.match(text, /^wrong {4}provider \S+: sessionUrl is at 127\.0\.0\.1.*elsewhere\.example.*make them agree/m)
    assert.not.ok(text.includes('hidden'))
    const mail = createNetServer((socket) => socket.end('554 \x1b]52;c;QUFB\x07\u009b2J\u202e go away\r\n'))
    await new Promise<void>((resolve) => mail.listen(0, '127.0.0.1', resolve))
    const { port } = mail.address() as AddressInfo
    const hostile = await ask({ SMTP_URL: `smtp://127.0.0.1:${port}`, CHROMIUM_PATH: '/nowhere' })
    mail.close()
    assert.match(hostile.lines.join('\n'), /^wrong {4}mail: the server refuses .*go away/m)
    assert.not.match(hostile.lines.join(''), /[\p{Cc}\p{Cf}]/u)
    const unreadable = await ask({ SMTP_URL: 'smtp://user:hid/den@127.0.0.1:9', CHROMIUM_PATH: '/nowhere' })
    assert.match(unreadable.lines.join('\n'), /^wrong {4}mail: SMTP_URL is no address; percent-encode/m)
    assert.not.match(unreadable.lines.join('\n') + unreadable.log, /hid.den/)
    const wrongConfiguration = await ask({ PORT: 'x' })
    assert.is(wrongConfiguration.status, 1)
    assert.match(wrongConfiguration.lines.join('\n'), /^wrong {4}configuration: PORT/m)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test.run()
