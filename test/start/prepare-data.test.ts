import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Apps } from '../../schemas/app/app.ts'
import type { Prepared } from '../../start/prepare-data.ts'
import { connectedTestDatabase } from '../support/database.ts'

const test = suite('the data of npm start')

let database: Awaited<ReturnType<typeof connectedTestDatabase>>
let dataDir: string
test.before(async () => {
  database = await connectedTestDatabase()
  dataDir = await mkdtemp(join(tmpdir(), 'ccs-data-'))
})
test.after(async () => {
  await database?.stop()
  await rm(dataDir, { recursive: true, force: true })
})

const prepare = async (env: Record<string, string> = {}): Promise<Prepared> => {
  const given = { MONGODB_URL: database.url, DATA_DIR: dataDir, BASE_URL: 'http://127.0.0.1:1', ...env }
  const { stdout } = await promisify(execFile)(process.execPath, ['--import', 'tsx', 'start/prepare-data.ts'], {
    env: { ...process.env, PROVIDER_SITE: 'http://127.0.0.1:2', ...given },
  })
  return JSON.parse(stdout)
}

test('the demo app is made once, follows the webhook address of each start, and opens under its own key alone', async () => {
  const MASTER_KEY = randomBytes(32).toString('base64')
  const first = await prepare({ MASTER_KEY, WEBHOOK_URL: 'http://127.0.0.1:3/hook' })
  assert.ok('signInUrl' in first && first.signInUrl.startsWith('http://127.0.0.1:1/'))
  const made = await Apps.findById('demo').lean()
  assert.is(made?.webhookUrl, 'http://127.0.0.1:3/hook')
  await prepare({ MASTER_KEY })
  const followed = await Apps.findById('demo').lean()
  assert.equal([followed?.webhookUrl, followed?.createdAt], [undefined, made?.createdAt])
  const wrong = await prepare({ MASTER_KEY: randomBytes(32).toString('base64') })
  assert.match(JSON.stringify(wrong), /"wrong":"MASTER_KEY: the data in this database was written under another one/)
})

test('what else goes wrong is one line too', async () => {
  const MASTER_KEY = randomBytes(32).toString('base64')
  const away = await prepare({ MASTER_KEY, MONGODB_URL: 'mongodb://127.0.0.1:1/nothing' })
  assert.ok('wrong' in away)
  assert.match(away.wrong, /^[^\n]*ECONNREFUSED[^\n]*$/)
})

test.run()
