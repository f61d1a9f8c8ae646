import { execFile, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

const folder = fileURLToPath(new URL('../../sdk', import.meta.url))
const vectors = join(folder, 'vectors/webhook-signature.json')
const languages = [
  { name: 'Python', command: 'python3', version: '--version', run: ['examples/verify.py'] },
  { name: 'Go', command: 'go', version: 'version', run: ['run', 'examples/verify.go'] },
]

type Run = { code: number; output: string }

function run(command: string, args: string[]): Promise<Run> {
  const env = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-mod=mod', GO111MODULE: 'off' }
  return new Promise((resolve) => {
    const child = execFile(command, args, { cwd: folder, env }, (_error, stdout, stderr) => {
      resolve({ code: child.exitCode ?? -1, output: stdout + stderr })
    })
  })
}

for (const { name, command, version, run: args } of languages) {
  const missing = spawnSync(command, [version]).status !== 0
  const check = missing ? test.skip : test

  check(`the example in ${name} agrees with every vector`, async () => {
    const count = (JSON.parse(readFileSync(vectors, 'utf8')) as { vectors: unknown[] }).vectors.length
    const { code, output } = await run(command, [...args, vectors])
    assert.is(output.trim(), `${count} of ${count} vectors as expected`)
    assert.is(code, 0)
  })

  check(`the example in ${name} notices a vector that it does not meet`, async () => {
    const temporary = await mkdtemp(join(tmpdir(), 'ccs-vectors-'))
    const altered = readFileSync(vectors, 'utf8').replace('"expect": "stale"', '"expect": "valid"')
    writeFileSync(join(temporary, 'altered.json'), altered)
    const { code, output } = await run(command, [...args, join(temporary, 'altered.json')])
    await rm(temporary, { recursive: true })
    assert.match(output, 'stale instead of valid')
    assert.is(code, 1)
  })
}

test.run()
