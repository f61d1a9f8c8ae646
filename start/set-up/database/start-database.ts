import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Clock, systemClock } from '../../../core/clock.ts'
import { POSTGRES_FOLDER, startFerretdb } from './ferretdb/start-ferretdb.ts'
import { MONGOD_FOLDER, startDownloadedMongod, startMongodOnPath } from './mongod.ts'
import { ping } from './ping.ts'
import { preferredPort } from './ports.ts'
import type { Database, Setup } from './types.ts'
import { withDatabaseName } from './url.ts'

export type { Database } from './types.ts'

const EXTERNAL_LIMIT_MS = 5_000
/** How long a server that was killed a moment ago may still hold the port of its data. */
const PORT_WAIT_MS = 3_000

interface Way {
  name: string
  /** Folder in `dataDir` that exists once this way has kept data there. */
  folder: string
  start(setup: Setup): Promise<Database>
}

const WAYS: Way[] = [
  { name: 'mongod', folder: MONGOD_FOLDER, start: startMongodOnPath },
  { name: 'download of mongod', folder: MONGOD_FOLDER, start: startDownloadedMongod },
  { name: 'FerretDB', folder: POSTGRES_FOLDER, start: startFerretdb },
]

/**
 * The first database that works: `MONGODB_URL`; a `mongod` on the PATH; mongodb-memory-server's download of mongod; FerretDB 2 on
 * PostgreSQL with DocumentDB. Where `dataDir` has data from an earlier start only what can read it is tried: a second start finds its
 * data again, or says why not. Without `port` the one of the last start is taken if it is free. Throws one error that says why each
 * way failed; aborting `signal` ends a set-up that is under way.
 */
export async function startDatabase({
  dataDir,
  port,
  progress,
  clock = systemClock(),
  env = process.env,
  signal,
}: {
  dataDir: string
  port?: number
  progress: (message: string) => void
  clock?: Clock
  env?: Record<string, string | undefined>
  signal?: AbortSignal
}): Promise<Database> {
  const external = env['MONGODB_URL']
  if (external) return externalDatabase(external)
  const folder = resolve(dataDir)
  await mkdir(folder, { recursive: true })
  const setup: Setup = {
    dataDir: folder,
    cacheDir: join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'ccs'),
    port: port || (await lastingPort({ dataDir: folder, clock })),
    progress,
    clock,
    env,
    ...(signal && { signal }),
  }
  const withData = await waysWithData(folder)
  const reasons: string[] = []
  for (const way of withData.length > 0 ? withData : WAYS) {
    try {
      return await way.start(setup)
    } catch (error) {
      signal?.throwIfAborted()
      reasons.push(`${way.name}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  const advice = withData.length > 0 ? `for the data in ${folder}` : 'here; set MONGODB_URL or install mongod'
  throw new Error(`No database could be started ${advice} (${reasons.join('; ')})`)
}

async function externalDatabase(address: string): Promise<Database> {
  const url = (name: string): string => withDatabaseName(address, name)
  try {
    await ping({ url: url('admin'), timeoutMs: EXTERNAL_LIMIT_MS })
  } catch (error) {
    throw new Error('The database of MONGODB_URL does not answer', { cause: error })
  }
  return { kind: 'external', url, pids: [], stop: async () => undefined }
}

async function waysWithData(dataDir: string): Promise<Way[]> {
  const filled = await Promise.all(
    WAYS.map(({ folder }) =>
      readdir(join(dataDir, folder)).then(
        (names) => names.length > 0,
        () => false,
      ),
    ),
  )
  return WAYS.filter((_, index) => filled[index])
}

async function lastingPort({ dataDir, clock }: { dataDir: string; clock: Clock }): Promise<number> {
  const file = join(dataDir, 'database-port')
  const before = Number(await readFile(file, 'utf8').catch(() => 0))
  const port = await preferredPort({ wanted: before || undefined, waitMs: PORT_WAIT_MS, clock })
  if (port !== before) await writeFile(file, String(port))
  return port
}
