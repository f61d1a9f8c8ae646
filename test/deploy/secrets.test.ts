import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const read = (name: string): Promise<string> => readFile(`${ROOT}${name}`, 'utf8')
const SECRETS = [
  '.env',
  '.env.production',
  'deploy/.env',
  'shop.env',
  'provider-profiles.json',
  'provider-profiles.eu.json',
  'tls.key',
]

test('git ignores what operators keep beside the project', async () => {
  const { stdout } = await promisify(execFile)('git', ['check-ignore', '--no-index', ...SECRETS], { cwd: ROOT })
  assert.equal(stdout.trim().split('\n'), SECRETS)
})

test('the image is made of named folders, and the builder is sent nothing else', async () => {
  const copied = [...(await read('Dockerfile')).matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, sources = '']) =>
    sources.split(' '),
  )
  assert.ok(copied.includes('http'))
  for (const source of copied) assert.match(source, /^[\w.-]*\w[\w./-]*$/, 'neither all of the project nor a pattern')
  const ignored = (await read('.dockerignore')).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  assert.is(ignored[0], '*')
  const sent = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
  for (const source of copied) assert.ok(sent.includes(source.split('/')[0] ?? ''), source)
  const last = ignored.slice(ignored.findLastIndex((line) => line.startsWith('!')) + 1)
  for (const pattern of ['**/.env*', '**/*.env', '**/*.key', '**/provider-profiles*.json'])
    assert.ok(last.includes(pattern))
})

test('every process of the composition runs what was built, and is asked for its health', async () => {
  const compose = await read('docker-compose.yml')
  for (const program of ['http', 'actors', 'browser-farm']) assert.match(compose, `dist/${program}/main.js`)
  assert.match(compose, /x-service: &service[\s\S]*healthcheck:[\s\S]*HEALTH_PORT[\s\S]*x-environment/)
  assert.not.match(compose, 'tsx')
})

test('the database of the composition asks for a password, and a secret reaches the one kind of process that needs it', async () => {
  const compose = await read('docker-compose.yml')
  const section = (name: string) => new RegExp(`^  ${name}:\\n(?:(?:    .*)?\\n)+`, 'm').exec(compose)?.[0] ?? ''
  assert.match(
    section('mongodb'),
    /MONGO_INITDB_ROOT_USERNAME: ccs\n\s+MONGO_INITDB_ROOT_PASSWORD: \$\{MONGODB_PASSWORD:\?/,
  )
  assert.match(compose, /MONGODB_URL:-mongodb:\/\/ccs:\$\{MONGODB_PASSWORD\}@mongodb/)
  for (const [name, kind] of [
    ['OPERATOR_KEY', 'http'],
    ['SMTP_URL', 'actors'],
  ] as const) {
    assert.match(section(kind), `${name}: $`)
    assert.is(compose.split(`${name}: `).length, 2, name)
  }
})

test.run()
