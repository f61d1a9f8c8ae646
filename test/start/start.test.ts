import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, chown, lchown, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { systemClock } from '../../core/clock.ts'
import { keepChild } from '../../start/child.ts'
import { environmentFor } from '../../start/child-environment.ts'
import { announce, childEnvironment, makePlan, partnerEnvironment, siteEnvironment } from '../../start/plan.ts'
import { keepSecrets } from '../../start/secrets.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const clock = systemClock()
const test = suite('start')
let dataDir = ''

test.before.each(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'ccs-start-'))
})
test.after.each(() => rm(dataDir, { recursive: true, force: true }))

const FIXTURE = 'test/start/child-fixture'

function fixture(env: Record<string, string> = {}, sharesPort = false) {
  const file = join(dataDir, 'life')
  const said: string[] = []
  const child = keepChild({
    name: 'fixture',
    program: FIXTURE,
    sharesPort,
    env: { PATH: process.env['PATH'], FIXTURE_FILE: file, ...env },
    clock,
    progress: (message) => void said.push(message),
  })
  const life = async (): Promise<string[]> => (await readFile(file, 'utf8')).trim().split('\n')
  return { child, said, life }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await clock.sleep(20)
}

for (const sharesPort of [false, true]) {
  test(`a killed child is replaced, a stopped one is not (${sharesPort ? 'sharing a port' : 'on its own'})`, async () => {
    const { child, said, life } = fixture({}, sharesPort)
    await child.ready
    const first = child.pid
    assert.ok(first)
    process.kill(first, 'SIGKILL')
    await until(async () => (await life()).length === 2)
    assert.is.not(child.pid, first)
    assert.match(said.join(), /SIGKILL/)
    await until(() => child.pid !== undefined)
    await child.stop()
    assert.is(child.pid, undefined)
  })
}

for (const sharesPort of [false, true]) {
  test(`a child has the environment that it was given and no more (${sharesPort ? 'sharing a port' : 'on its own'})`, async () => {
    process.env['SECRET_OF_THE_PARENT'] = 'secret'
    const { child, life } = fixture({}, sharesPort)
    await child.ready
    const environment = await readFile(`/proc/${child.pid}/environ`, 'utf8').catch(() => '')
    await child.stop()
    delete process.env['SECRET_OF_THE_PARENT']
    assert.is((await life()).length, 2)
    assert.not.match(environment, 'SECRET_OF_THE_PARENT')
  })
}

test('a child that ends before it was ever ready is an error that names it', async () => {
  const { child } = fixture({ FIXTURE_FAILS: 'true' })
  const failure = await child.ready.catch((error) => error)
  assert.match(String(failure), /fixture ended before it was ready \(status 3\)/)
  await child.stop()
})

test('secrets are made once and only their owner reads them', async () => {
  const first = await keepSecrets({ dataDir })
  assert.equal(await keepSecrets({ dataDir }), first)
  assert.is((await stat(join(dataDir, 'secrets.json'))).mode & 0o777, 0o600)
  await chmod(dataDir, 0o755)
  await keepSecrets({ dataDir })
  assert.is((await stat(dataDir)).mode & 0o777, 0o700)
  await writeFile(join(dataDir, 'secrets.json'), '{')
  assert.match(String(await keepSecrets({ dataDir }).catch((error) => error)), /secrets\.json/)
})

test('starts at once have the same secrets', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ccs-at-once-'))
  try {
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => keepSecrets({ dataDir: folder })))
    for (const other of others) assert.equal(other, first)
    assert.equal(await readdir(folder), ['secrets.json'])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('what another user made where the secrets and the program belong is not used', async () => {
  // Nobody else can make a folder of another user's.
  if (process.getuid?.() !== 0) return
  const [stranger, build] = [54_321, (folder: string) => join(folder, 'build')]
  const strangers: ((folder: string) => Promise<unknown>)[] = [
    (folder) => chown(folder, stranger, stranger),
    async (folder) => {
      await mkdir(build(folder))
      await chown(build(folder), stranger, stranger)
    },
    async (folder) => {
      await symlink(tmpdir(), build(folder))
      await lchown(build(folder), stranger, stranger)
    },
  ]
  for (const make of strangers) {
    const folder = await mkdtemp(join(tmpdir(), 'ccs-strangers-'))
    try {
      await make(folder)
      const args = ['--import', 'tsx', 'start/build.ts', join(build(folder), '1')]
      const failure = await promisify(execFile)(process.execPath, args, { cwd: root }).catch((error) => error)
      assert.match(String(failure.stderr), /belongs to another user \(54321\); remove it, or set DATA_DIR/)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }
  const folder = await mkdtemp(join(tmpdir(), 'ccs-strangers-'))
  try {
    const [file, unfinished] = [join(folder, 'secrets.json'), join(folder, 'secrets.json.unfinished')]
    await symlink(join(folder, 'elsewhere'), unfinished)
    await keepSecrets({ dataDir: folder })
    // Neither followed nor anything else left beside the file.
    assert.equal((await readdir(folder)).sort(), ['secrets.json', 'secrets.json.unfinished'])
    await chown(file, stranger, stranger)
    assert.match(String(await keepSecrets({ dataDir: folder }).catch((error) => error)), /belongs to another user/)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('what a service runs stays as it is while another one is started beside it, and goes once it has ended', async () => {
  const compileFor = (pid: number | undefined) =>
    promisify(execFile)(process.execPath, ['--import', 'tsx', 'start/build.ts', join(dataDir, 'build', String(pid))], {
      cwd: root,
    })
  const service = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)'])
  const ended = once(service, 'exit')
  const runs = join(dataDir, 'build', String(service.pid))
  const asItIs = async () => {
    const files = (await readdir(runs, { recursive: true })).filter((name) => name.endsWith('.js'))
    const stats = await Promise.all(files.sort().map((name) => stat(join(runs, name))))
    return stats.map(({ ino, mtimeMs, size }) => [ino, mtimeMs, size])
  }
  await mkdir(join(dataDir, 'build', 'of-somebody'), { recursive: true })
  await compileFor(service.pid)
  const before = await asItIs()
  assert.ok(before.length > 100)
  await compileFor(process.pid)
  assert.equal(await asItIs(), before)
  service.kill()
  await ended
  await compileFor(process.pid)
  assert.equal((await readdir(join(dataDir, 'build'))).sort(), [String(process.pid), 'of-somebody'])
})

test('the partner and the provider site get none of the secrets of the service', async () => {
  const env = {
    PORT: '0',
    DATA_DIR: dataDir,
    PATH: '/bin',
    OLD_MASTER_KEYS: 'old-key',
    AWS_SECRET_KEY: 'of-the-machine',
  }
  const plan = await makePlan({ env, clock })
  const shared = childEnvironment({ env, plan })
  assert.equal([shared['PATH'], shared['OLD_MASTER_KEYS'], shared['AWS_SECRET_KEY']], ['/bin', 'old-key', undefined])
  for (const other of [partnerEnvironment({ env, plan }), siteEnvironment({ env, plan })]) {
    assert.is(other['PATH'], '/bin')
    for (const secret of ['MASTER_KEY', 'OPERATOR_KEY', 'OLD_MASTER_KEYS']) {
      assert.ok(shared[secret])
      assert.not.ok(Object.values(other).includes(shared[secret] ?? ''), secret)
    }
  }
})

test('each kind of process gets the secrets that it needs, and no other', async () => {
  const plan = await makePlan({ env: { PORT: '0', DATA_DIR: dataDir }, clock })
  const shared = childEnvironment({ env: { SMTP_URL: 'smtp://user:password@127.0.0.1:25' }, plan })
  const given = (kind: string) => {
    const env = environmentFor(kind, shared)
    return ['MASTER_KEY', 'OPERATOR_KEY', 'SMTP_URL'].filter((name) => env[name] !== undefined)
  }
  assert.equal(given('http'), ['MASTER_KEY', 'OPERATOR_KEY'])
  assert.equal(given('actors'), ['MASTER_KEY', 'SMTP_URL'])
  assert.equal(given('browser-farm'), ['MASTER_KEY'])
  assert.equal(given('data'), ['MASTER_KEY'])
})

test('what is not run is not announced', async () => {
  const rest = {
    databaseUrl: 'mongodb://h/x',
    processes: { http: [1], actors: [2], 'browser-farm': [3] },
    signInUrl: 'http://127.0.0.1:1/developers/sign-in/link?token=t',
    operatorKey: 'k',
  }
  const line = async (env: Record<string, string>) => {
    const plan = await makePlan({ env: { PORT: '0', DATA_DIR: dataDir, ...env }, clock })
    return { plan, line: announce({ plan, ...rest }) }
  }
  const whole = await line({})
  assert.is(whole.line.provider.id, 'sandbox-assistant')
  assert.is(whole.plan.webhookUrl?.startsWith(whole.line.partner?.url ?? 'none'), true)
  const silent = await line({ WEBHOOK_URL: '' })
  assert.is(silent.line.partner, undefined)
  assert.is(silent.plan.webhookUrl, undefined)
  const own = await line({ WEBHOOK_URL: 'http://127.0.0.1:1/hook', BASE_URL: 'https://service.example.test/' })
  assert.is(own.line.partner, undefined)
  assert.is(own.plan.webhookUrl, 'http://127.0.0.1:1/hook')
  assert.is(own.line.baseUrl, 'https://service.example.test')
})

test('a wrong value stops the start with one line that names it, and status 1', async () => {
  const wrong: Record<string, Record<string, string>> = {
    TIME_SCALE: { TIME_SCALE: '2401' },
    HTTP_PROCESSES: { HTTP_PROCESSES: 'many' },
    WEBHOOK_URL: { WEBHOOK_URL: 'ftp://h/' },
    PROVIDER_PROFILES: { PROVIDER_PROFILES: join(dataDir, 'absent.json') },
    MASTER_KEY: { SERVICE_ENV: 'production' },
  }
  for (const [name, given] of Object.entries(wrong)) {
    const env = { ...process.env, PORT: '0', DATA_DIR: dataDir, ...given }
    const child = spawn(process.execPath, ['start/bootstrap.js', 'start', '--json'], { cwd: root, env })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (text) => {
      stdout += text
    })
    child.stderr.on('data', (text) => {
      stderr += text
    })
    const status = await new Promise((resolve) => child.on('close', resolve))
    assert.is(status, 1, name)
    assert.is(stdout, '')
    assert.match(stderr, new RegExp(`^Cannot start: ${name}: [^\\n]+\\n$`))
  }
})

test.run()
