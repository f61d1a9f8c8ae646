import { execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { systemClock } from '../../core/clock.ts'
import { createKeyring } from '../../core/envelope.ts'
import { sandboxProfile } from '../../provider/profile.ts'
import { createApp } from '../../schemas/app/apps.ts'
import { liveProcesses } from '../../schemas/operations/process-record.ts'
import { signLink } from '../../sdk/src/index.ts'
import { connectedTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const test = suite('what npm run build makes')
const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const MASTER_KEY = Buffer.alloc(32, 7)
const clock = systemClock()
/** What a production machine does not have. */
const BUILD_TOOLS = /['"](?:esbuild|tsx|typescript|mongodb-memory-server[\w-]*)(?:\/[^'"]*)?['"]/

/** A folder as `npm ci --omit=dev` and the build leave it: `dist/` and the production packages alone. */
let folder = ''
let database: Awaited<ReturnType<typeof connectedTestDatabase>>
const ends: (() => Promise<unknown>)[] = []

test.before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ccs-build-'))
  const args = ['--import', 'tsx', 'deploy/build.ts', join(folder, 'dist')]
  await promisify(execFile)(process.execPath, args, { cwd: ROOT })
  await cp(join(ROOT, 'package.json'), join(folder, 'package.json'))
  await linkProductionPackages()
  database = await connectedTestDatabase()
})
test.after(async () => {
  await Promise.all(ends.map((end) => end()))
  await database?.stop()
  await rm(folder, { recursive: true, force: true })
})

async function linkProductionPackages(): Promise<void> {
  const lock = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'))
  const packages = Object.entries<{ dev?: boolean; link?: boolean }>(lock.packages)
  for (const [path, { dev, link }] of packages) {
    const isNested = path.lastIndexOf('node_modules/') > 0
    if (!path.startsWith('node_modules/') || isNested || dev || link) continue
    await mkdir(dirname(join(folder, path)), { recursive: true })
    // A package for another platform is not there.
    await symlink(join(ROOT, path), join(folder, path))
  }
}

/** One built program, as an image runs it. */
async function start(program: string, env: Record<string, string>): Promise<{ url: string }> {
  const child = fork(join(folder, 'dist', program), [], {
    cwd: folder,
    env: { PATH: process.env['PATH'], TMPDIR: process.env['TMPDIR'], HOME: process.env['HOME'], ...env },
    // Packages are looked for where their links lie, not in the project that they lead to.
    execArgv: ['--preserve-symlinks', '--preserve-symlinks-main', '--enable-source-maps'],
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  ends.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGTERM')
    const [status] = await once(child, 'exit')
    assert.is(status, 0, program)
  })
  return new Promise((resolve, reject) => {
    child.once('message', (message: { url: string }) => resolve(message))
    child.once('exit', (status) => reject(new Error(`${program} ended with status ${status}`)))
  })
}

test('nothing in it needs a tool that builds', async () => {
  const entries = await readdir(join(folder, 'dist'), { recursive: true, withFileTypes: true })
  const scripts = entries.filter(({ name }) => name.endsWith('.js')).map((entry) => join(entry.parentPath, entry.name))
  assert.ok(scripts.length > 100)
  for (const script of scripts) {
    assert.not.match(await readFile(script, 'utf8'), BUILD_TOOLS, script)
    assert.ok((await readFile(`${script}.map`, 'utf8')).includes('"sourcesContent"'), script)
  }
  assert.equal(
    entries.filter(({ name }) => name.endsWith('.ts')).map(({ name }) => name),
    [],
  )
})

test('its three processes run in production, and serve a page with its assets', async () => {
  const profiles = join(folder, 'profiles.json')
  await writeFile(profiles, JSON.stringify([sandboxProfile('http://127.0.0.1:9')]))
  const env = {
    SERVICE_ENV: 'production',
    MONGODB_URL: database.url,
    MASTER_KEY: MASTER_KEY.toString('base64'),
    OPERATOR_KEY: 'operator-key-of-the-tests-0123456789',
    BASE_URL: 'https://service.example.test',
    // Nobody is sent anything here: the address only has to be one.
    SMTP_URL: 'smtp://127.0.0.1:25',
    PORT: '0',
    PROVIDER_PROFILES: profiles,
    CHROMIUM_PATH: process.env['CHROMIUM_PATH'] ?? '',
    LOG_LEVEL: 'warn',
  }
  const [http] = await Promise.all([
    start('http/main.js', env),
    start('actors/main.js', env),
    start('browser-farm/main.js', env),
  ])
  const records = await until('three processes', async () => {
    const found = await liveProcesses(clock.now())
    return found.length === 3 && found.every(({ state }) => state === 'running') ? found : null
  })
  for (const { kind, healthPort } of records) {
    for (const path of ['/healthz', '/readyz', '/metrics'])
      assert.is((await fetch(`http://127.0.0.1:${healthPort}${path}`)).status, 200, `${kind} ${path}`)
  }
  for (const path of ['/healthz', '/readyz', '/metrics'])
    assert.is((await fetch(`${http.url}${path}`)).status, 404, `${path} is not public`)
  await servesItsPages(http.url)
})

async function servesItsPages(url: string): Promise<void> {
  const { appSecret } = await createApp({
    appId: 'shop',
    name: 'Shop',
    contactEmail: 'x@example.test',
    createdBy: 'test',
    keyring: createKeyring([MASTER_KEY]),
    now: clock.now(),
  })
  const link = new URL(signLink({ appId: 'shop', appSecret, baseUrl: url, userRef: 'someone' }).url)
  const opened = await fetch(link, { redirect: 'manual' })
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  const start = await (await fetch(`${url}/start`, { headers: { cookie } })).text()
  const docs = await (await fetch(`${url}/docs`)).text()
  const addresses = [...`${start}${docs}`.matchAll(/(?:src|href)="(\/(?:assets|docs)\/[^"]+)"/g)].map(
    (found) => found[1],
  )
  assert.ok(
    addresses.some((address) => /\/start-\w{12}\.js$/.test(address ?? '')),
    start,
  )
  assert.ok(addresses.some((address) => /\/docs\/style-\w{12}\.css$/.test(address ?? '')))
  for (const address of addresses) {
    const asset = await fetch(`${url}${address}`)
    assert.equal([asset.status, (await asset.text()).length > 50], [200, true], address)
  }
}

test('a partner is taken on with its command', async () => {
  const command = join(folder, 'dist/start/app.js')
  const failure = await promisify(execFile)(process.execPath, [command, 'remove'], { cwd: folder }).catch(
    (error) => error,
  )
  assert.match(failure.stderr, /^Usage: /)
})

test.run()
