import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { MongoClient } from 'mongodb'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { startDatabase } from '../../start/set-up/database/start-database.ts'
import { withDatabaseName } from '../../start/set-up/database/url.ts'

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))))
const env = { ...process.env, MONGODB_URL: undefined }
const quiet = (): void => undefined
const test = suite('database')
let dataDir = ''

test.before.each(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'ccs-database-'))
})
test.after.each(() => rm(dataDir, { recursive: true, force: true }))

/** Tries until it succeeds; the suite's time limit is the limit. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch {
      await sleep(50)
    }
  }
}

/** Those that run; one that has ended and is not yet collected by its parent does not. */
async function stillRuns(pids: number[]): Promise<number[]> {
  const states = await Promise.all(
    pids.map(async (pid) => {
      try {
        process.kill(pid, 0)
        return !/^\d+ \(.*\) Z/.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))
      } catch {
        return false
      }
    }),
  )
  return pids.filter((_, index) => states[index])
}

test('a database name goes into the address unless it has one', () => {
  assert.is(withDatabaseName('mongodb://127.0.0.1:1', 'a'), 'mongodb://127.0.0.1:1/a')
  assert.is(withDatabaseName('mongodb://h/?tls=true', 'a'), 'mongodb://h/a?tls=true')
  assert.is(withDatabaseName('mongodb+srv://u:p@h/mine?w=1', 'a'), 'mongodb+srv://u:p@h/mine?w=1')
  assert.is(withDatabaseName('mongodb://a:1,b:2,c:3/', 'd'), 'mongodb://a:1,b:2,c:3/d')
  assert.throws(() => withDatabaseName('http://h', 'a'), /MONGODB_URL/)
})

test('an external database is used as it is, and one that is away is an error', async () => {
  const address = process.env['TEST_DATABASE_URL']
  if (address) {
    const database = await startDatabase({ dataDir, progress: quiet, env: { ...env, MONGODB_URL: address } })
    assert.is(database.kind, 'external')
    assert.equal(database.pids, [])
    await database.stop()
  }
  const away = { ...env, MONGODB_URL: 'mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=100' }
  const failure = await startDatabase({ dataDir, progress: quiet, env: away }).catch((error) => error)
  assert.match(String(failure), /MONGODB_URL/)
})

test('acknowledged writes outlive killed servers, which come back, and a stop', async () => {
  const first = await startDatabase({ dataDir, progress: quiet, env })
  const client = await MongoClient.connect(first.url('kept'))
  const things = client.db().collection<{ _id: number }>('things')
  const servers = first.pids
  for (const [index, pid] of servers.entries()) {
    await things.insertOne({ _id: index })
    process.kill(pid, 'SIGKILL')
    await insist(async () => assert.is.not(first.pids[index] ?? pid, pid))
    await insist(() => things.findOne({ _id: index }))
  }
  await client.close()
  const url = first.url('kept')
  const last = first.pids
  await first.stop()
  assert.equal(await stillRuns(last), [])

  const second = await startDatabase({ dataDir, progress: quiet, env })
  assert.is(second.url('kept'), url)
  const again = await MongoClient.connect(second.url('kept'))
  assert.is(await again.db().collection('things').countDocuments(), servers.length)
  await again.close()
  await second.stop()
})

test('the servers end with a process that is killed, and the next start takes the data over', async () => {
  const script = `
    const { startDatabase } = await import('./start/set-up/database/start-database.ts')
    const database = await startDatabase({ dataDir: process.argv[1], progress: () => undefined })
    console.log(JSON.stringify(database.pids))
    setInterval(() => undefined, 1000)`
  const args = ['--import', 'tsx', '--input-type=module', '-e', script, dataDir]
  const parent = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const line = await new Promise<string>((resolve) => parent.stdout.once('data', (data) => resolve(String(data))))
  const pids = JSON.parse(line) as number[]
  assert.is((await stillRuns(pids)).length, pids.length)
  parent.kill('SIGKILL')
  const next = await startDatabase({ dataDir, progress: quiet, env })
  await insist(async () => assert.equal(await stillRuns(pids), []))
  await next.stop()
})

test.run()
