import { constants } from 'node:fs'
import { access, mkdir } from 'node:fs/promises'
import { arch, platform } from 'node:os'
import { delimiter, join } from 'node:path'
// Not from the package itself, which comes with a driver of its own: this process keeps what it loads.
import { DryMongoBinary } from 'mongodb-memory-server-core/lib/util/DryMongoBinary.js'
import { MongoBinary } from 'mongodb-memory-server-core/lib/util/MongoBinary.js'
import { MongoBinaryDownloadUrl } from 'mongodb-memory-server-core/lib/util/MongoBinaryDownloadUrl.js'
import { embeddedDatabase } from './embedded.ts'
import { ping, untilAnswers } from './ping.ts'
import { listens } from './ports.ts'
import type { Database, Setup } from './types.ts'

const START_LIMIT_MS = 60_000
const STOP_LIMIT_MS = 8_000
const PROBE_LIMIT_MS = 4_000
const TRIES = 4

/** Folder in `dataDir` that both ways to a mongod share. */
export const MONGOD_FOLDER = 'mongod'

/** A `mongod` that the machine has. */
export async function startMongodOnPath(setup: Setup): Promise<Database> {
  for (const folder of (setup.env['PATH'] ?? '').split(delimiter)) {
    const command = join(folder, 'mongod')
    const usable = await access(command, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (folder && usable) return startMongod({ kind: 'mongod', command, setup })
  }
  throw new Error('none on the PATH')
}

/** The mongod that mongodb-memory-server downloads, once for all clones, run with a lasting data folder. */
export async function startDownloadedMongod(setup: Setup): Promise<Database> {
  const downloadDir = join(setup.cacheDir, 'mongod')
  const options = await DryMongoBinary.generateOptions({ downloadDir })
  let command = await DryMongoBinary.locateBinary(options)
  if (!command) {
    await mustBeReachable(
      await new MongoBinaryDownloadUrl({ ...options, platform: platform(), arch: arch() }).getDownloadUrl(),
    )
    setup.progress('Downloading mongod (about 100 MB, once)')
    command = await MongoBinary.getPath(options)
  }
  return startMongod({ kind: 'memory-server', command, setup })
}

/** The download itself waits and retries for minutes; a host that cannot be reached is noticed here within seconds. */
async function mustBeReachable(url: string): Promise<void> {
  const response = await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(PROBE_LIMIT_MS) }).catch((error) => {
    throw new Error(`${new URL(url).host} cannot be reached`, { cause: error })
  })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
}

async function startMongod({
  kind,
  command,
  setup,
}: {
  kind: 'mongod' | 'memory-server'
  command: string
  setup: Setup
}): Promise<Database> {
  const { dataDir, port, clock } = setup
  const dbPath = join(dataDir, MONGOD_FOLDER)
  await mkdir(dbPath, { recursive: true })
  const { database, run } = embeddedDatabase({ kind, setup })
  try {
    const server = await run({
      name: 'mongod',
      command,
      args: ['--dbpath', dbPath, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'],
      env: setup.env,
      cwd: dataDir,
      logName: 'mongod.log',
      stopSignal: 'SIGINT',
      stopLimitMs: STOP_LIMIT_MS,
    })
    await untilAnswers({
      ask: async () => {
        await listens(port)
        await ping({ url: database.url('admin'), timeoutMs: 2_000 })
      },
      limitMs: START_LIMIT_MS,
      alive: async () => {
        setup.signal?.throwIfAborted()
        if (server.failures >= TRIES) throw new Error(`does not start: ${await server.tail()}`)
      },
      clock,
    })
  } catch (error) {
    await database.stop()
    throw error
  }
  return database
}
