import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
const sdk = join(root, 'sdk')

const program = `
import { createClient, expressWebhook, fetchWebhook, signLink, verifyWebhook, WebhookVerificationError } from 'ccs-sdk'
import vectors from 'ccs-sdk/vectors/webhook-signature.json' with { type: 'json' }
const results = vectors.vectors.map((v) => {
  const rawBody = v.body ?? Buffer.from(v.bodyBase64, 'base64')
  try {
    verifyWebhook({ rawBody, signature: v.signature, secret: v.secrets, toleranceSeconds: v.toleranceSeconds, now: v.now * 1000 })
    return v.expect === 'valid'
  } catch (error) {
    return error instanceof WebhookVerificationError && [v.expect, v.diagnosis].includes(error.reason)
  }
})
const { url } = signLink({ appId: 'a', appSecret: 'x'.repeat(32), userRef: 'u', baseUrl: 'https://connect.example.com' })
const kinds = [createClient, expressWebhook, fetchWebhook].map((one) => typeof one)
console.log(JSON.stringify({ right: results.every(Boolean), count: results.length, url, kinds }))
`

/** What a partner would write: the declarations have to give these types, under strict settings. */
const typed = `
import { createClient, isKnownEvent, signLink, verifyWebhook, WebhookVerificationError } from 'ccs-sdk'
import type { Conversation, WebhookVerificationReason } from 'ccs-sdk'
const link: { url: string; token: string; jti: string; expiresAt: Date } = signLink({
  appId: 'a', appSecret: 's', userRef: 'u', baseUrl: 'https://x.example' })
const client = createClient({ baseUrl: link.url, apiKey: 'k' })
export async function titles(id: string): Promise<(string | null)[]> {
  const all: Conversation[] = []
  for await (const conversation of client.eachConversation(id)) all.push(conversation)
  return all.map(({ title }) => title)
}
const event = verifyWebhook({ rawBody: '', signature: null, secret: ['a'] })
if (isKnownEvent(event)) {
  switch (event.event) {
    case 'data.imported': { const inserted: number = event.payload.inserted; void inserted; break }
    case 'connection.created': { const replaces: string[] = event.payload.replaces; void replaces; break }
  }
}
export const reasonOf = (error: unknown): WebhookVerificationReason | undefined =>
  error instanceof WebhookVerificationError ? error.reason : undefined
// @ts-expect-error one of userRef and connectionId, not both
void client.purge({ userRef: 'u', connectionId: 'c' })
// @ts-expect-error a purpose that does not exist
signLink({ appId: 'a', appSecret: 's', userRef: 'u', baseUrl: 'x', purpose: 'other' })
`

const compilerOptions = {
  module: 'nodenext',
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
}

/** A partner's node knows nothing of how this project runs its own files. */
const { NODE_OPTIONS: _own, ...plain } = process.env

async function install(folder: string): Promise<string[]> {
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: sdk })
  // The build that goes before prints its own lines.
  const [packed] = JSON.parse(stdout.slice(stdout.indexOf('[\n'))) as [{ filename: string; files: { path: string }[] }]
  const target = join(folder, 'node_modules/ccs-sdk')
  await mkdir(target, { recursive: true })
  await run('tar', ['-xzf', join(folder, packed.filename), '-C', target, '--strip-components=1'])
  // What npm would fetch is taken from this project, so that the test needs no registry.
  for (const dependency of ['jsonwebtoken', '@types']) {
    await symlink(join(root, 'node_modules', dependency), join(folder, 'node_modules', dependency))
  }
  return packed.files.map(({ path }) => path)
}

test('the packed package holds what it should, runs and types in a project of its own', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ccs-pack-'))
  try {
    const files = await install(folder)
    const built = files.filter((path) => path.startsWith('dist/'))
    const others = files.filter((path) => !path.startsWith('dist/')).sort()
    assert.equal(others, [
      'README.md',
      'examples/verify.go',
      'examples/verify.py',
      'package.json',
      'vectors/webhook-signature.json',
    ])
    assert.ok(built.includes('dist/index.js') && built.includes('dist/index.d.ts'))
    assert.ok(built.every((path) => path.endsWith('.js') || path.endsWith('.d.ts')))

    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    await writeFile(join(folder, 'program.js'), program)
    const { stdout } = await run(process.execPath, ['--no-warnings', 'program.js'], { cwd: folder, env: plain })
    const said = JSON.parse(stdout) as { right: boolean; count: number; url: string; kinds: string[] }
    assert.ok(said.right && said.count > 40)
    assert.match(said.url, /^https:\/\/connect\.example\.com\/start\?token=/)
    assert.equal(said.kinds, ['function', 'function', 'function'])

    await writeFile(join(folder, 'typed.ts'), typed)
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts'] }))
    const compiler = join(root, 'node_modules/.bin/tsc')
    const checked = await run(compiler, ['-p', folder]).catch((error: { stdout: string }) => error)
    assert.is(checked.stdout, '')
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('nothing in the package comes from the rest of the project', async () => {
  const manifest = JSON.parse(await readFile(join(sdk, 'package.json'), 'utf8')) as Record<string, unknown>
  assert.equal(Object.keys(manifest['dependencies'] as object), ['jsonwebtoken'])
  assert.is(manifest['private'], undefined)
})

test.run()
