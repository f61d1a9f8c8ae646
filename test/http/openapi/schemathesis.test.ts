import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { findSchemathesis } from '../../support/schemathesis.ts'
import { seedConnection, seedConversations } from '../../support/seed.ts'

const SEED = '1'
const EXAMPLES = '20'
let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
  const connection = await seedConnection({ appId: 'app-one', userRef: 'someone' })
  await seedConversations({ archiveId: connection.archiveId ?? '', count: 30 })
})
test.after(async () => {
  await world.stop()
})

const run = (program: string, args: string[], cwd: string): Promise<{ status: number; output: string }> =>
  new Promise((resolve) => {
    execFile(program, args, { cwd, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) =>
      resolve({ status: error ? Number(error.code) : 0, output: `${stdout}\n${stderr}` }),
    )
  })

test('schemathesis finds no error of ours and no answer that is not described', async () => {
  const found = await findSchemathesis()
  if ('missing' in found) {
    process.stderr.write(`SKIPPED: schemathesis cannot be installed here: ${found.missing}\n`)
    return
  }
  const folder = await mkdtemp(join(tmpdir(), 'ccs-schemathesis-'))
  const { status, output } = await run(
    found.program,
    [
      'run',
      `${world.url}/openapi.json`,
      '--url',
      world.url,
      '--header',
      `Authorization: Bearer ${world.one.apiKey}`,
      '--max-examples',
      EXAMPLES,
      '--seed',
      SEED,
      '--no-color',
      '--generation-database',
      'none',
      // What the shapes let through may still name nobody, or two targets at once.
      '--exclude-checks',
      'positive_data_acceptance',
    ],
    folder,
  )
  await rm(folder, { recursive: true, force: true })
  assert.is(status, 0, output)
})

test.run()
