import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { embeddedDatabase } from '../embedded.ts'
import { ping, untilAnswers } from '../ping.ts'
import { freePort, listens } from '../ports.ts'
import type { Database, Setup } from '../types.ts'
import { installedFerretdb } from './build.ts'
import { startPostgres } from './postgres.ts'

export { POSTGRES_FOLDER } from './postgres.ts'

const START_LIMIT_MS = 20_000
const STOP_LIMIT_MS = 3_000
const TRIES = 4
/** Each connection is a process of PostgreSQL's, of five megabytes and more: what a burst has opened goes with it. FerretDB itself keeps ten. */
const POOL = 'pool_min_conns=2&pool_max_conn_idle_time=1m'

/** FerretDB 2 (MongoDB's wire protocol) on PostgreSQL with DocumentDB, for Debian machines that reach package mirrors only; needs root. */
export async function startFerretdb(setup: Setup): Promise<Database> {
  if (process.platform !== 'linux') throw new Error('its set-up needs Debian')
  if (process.getuid?.() !== 0) throw new Error('its set-up needs root')
  const { dataDir, port, clock } = setup
  const installed = await installedFerretdb(setup)
  const { database, run } = embeddedDatabase({ kind: 'ferretdb', setup })
  try {
    const postgresPort = await freePort()
    await startPostgres({ root: installed.root, port: postgresPort, setup, run })
    const stateDir = join(dataDir, 'ferretdb')
    await mkdir(stateDir, { recursive: true })
    const ferretdb = await run({
      name: 'FerretDB',
      command: installed.ferretdb,
      args: [
        '--no-auth',
        `--postgresql-url=postgres://postgres@127.0.0.1:${postgresPort}/postgres?sslmode=disable&${POOL}`,
        `--listen-addr=127.0.0.1:${port}`,
        '--debug-addr=-',
        `--state-dir=${stateDir}`,
        '--log-level=warn',
      ],
      env: { PATH: setup.env['PATH'], HOME: stateDir, DO_NOT_TRACK: '1' },
      cwd: stateDir,
      logName: 'ferretdb.log',
      stopSignal: 'SIGTERM',
      stopLimitMs: STOP_LIMIT_MS,
    })
    await untilAnswers({
      ask: async () => {
        await listens(port)
        await ping({ url: database.url('admin'), timeoutMs: 5_000 })
      },
      limitMs: START_LIMIT_MS,
      alive: async () => {
        setup.signal?.throwIfAborted()
        if (ferretdb.failures >= TRIES) throw new Error(`FerretDB does not start: ${await ferretdb.tail()}`)
      },
      clock,
    })
  } catch (error) {
    await database.stop()
    throw error
  }
  return database
}
