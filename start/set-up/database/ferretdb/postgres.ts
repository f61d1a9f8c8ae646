import { chmod, chown, mkdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '../../run-command.ts'
import type { Embedded } from '../embedded.ts'
import { untilAnswers } from '../ping.ts'
import { listens } from '../ports.ts'
import type { Setup } from '../types.ts'
import type { Watched } from '../watched.ts'

/** Folder in `dataDir` that holds PostgreSQL's data. */
export const POSTGRES_FOLDER = 'postgres'

const START_LIMIT_MS = 60_000
const STOP_LIMIT_MS = 8_000
/** Messages of a server whose killed predecessor is still ending: try again. */
const STILL_ENDING = /lock file .* already exists|shared memory block .* is still in use|could not bind/
const STILL_ENDING_LIMIT_MS = 15_000
const TRIES = 3
const EXTENSIONS = ['documentdb', 'documentdb_extended_rum']

/** `log_min_messages=log` keeps failed statements, and with them people's data, out of the log file. */
const SETTINGS = [
  'shared_preload_libraries=pg_cron,pg_documentdb_core,pg_documentdb_extended_rum,pg_documentdb',
  'documentdb.alternate_index_handler_name=extended_rum',
  'autovacuum_naptime=10s',
  'cron.database_name=postgres',
  'cron.host=127.0.0.1',
  'cron.log_run=off',
  'cron.log_statement=off',
  'documentdb.enableBackgroundWorker=on',
  'log_min_messages=log',
  // Processes that nothing here needs: for reading ahead on large machines, and for replicas.
  'io_method=sync',
  'max_logical_replication_workers=0',
]

/** In a mount namespace of its own: what is mounted goes with the process, and several can run side by side. */
const IN_NAMESPACE = `
root=$1; data=$2; owner=$3; shift 3
mount -t proc proc "$root/proc" && mount -t tmpfs tmpfs "$root/dev/shm" && mount --bind "$data" "$root/srv/data" &&
exec chroot --userspec="$owner" "$root" env -i PATH=/usr/lib/postgresql/18/bin:/usr/bin:/bin HOME=/tmp "$@"`

interface Owner {
  uid: number
  gid: number
}

/** Starts PostgreSQL with DocumentDB on the data of `setup.dataDir`, which is made where it is missing, and waits until it answers. */
export async function startPostgres({
  root,
  port,
  setup,
  run,
}: {
  root: string
  port: number
  setup: Setup
  run: Embedded['run']
}): Promise<void> {
  const owner = await stat(join(root, 'var/lib/postgresql'))
  const data = join(setup.dataDir, POSTGRES_FOLDER)
  await haveData({ root, data, owner, setup })
  const server = ['postgres', '-D', '/srv/data', '-p', String(port), '-h', '127.0.0.1', '-k', '']
  const postgres = await run({
    name: 'PostgreSQL',
    command: 'unshare',
    args: inNamespace({ root, data, owner, command: [...server, ...SETTINGS.flatMap((setting) => ['-c', setting])] }),
    env: setup.env,
    cwd: '/',
    logName: 'postgres.log',
    stopSignal: 'SIGINT',
    stopLimitMs: STOP_LIMIT_MS,
  })
  await untilReady({ root, port, postgres, setup })
}

async function untilReady(options: { root: string; port: number; postgres: Watched; setup: Setup }): Promise<void> {
  const { root, port, postgres, setup } = options
  const patience = setup.clock.elapsed() + STILL_ENDING_LIMIT_MS
  await untilAnswers({
    ask: async () => {
      await listens(port)
      await prepareDatabase({ root, port, setup })
    },
    limitMs: START_LIMIT_MS,
    alive: async () => {
      setup.signal?.throwIfAborted()
      if (postgres.failures < TRIES) return
      const said = await postgres.tail()
      if (!STILL_ENDING.test(said)) throw new Error(`PostgreSQL does not start: ${said}`)
      if (setup.clock.elapsed() > patience) throw new Error(`another process uses the data in ${setup.dataDir}`)
    },
    clock: setup.clock,
  })
}

/** Before FerretDB starts, since indexes are built with their handler; does nothing where they are there. */
async function prepareDatabase({ root, port, setup }: { root: string; port: number; setup: Setup }): Promise<void> {
  const statements = [
    ...EXTENSIONS.map((name) => `create extension if not exists ${name} cascade`),
    // Jobs (the removal of expired documents, say) keep the port of the start that made them.
    `update cron.job set nodeport = ${port} where nodeport <> ${port}`,
  ]
  const commands = statements.flatMap((statement) => ['-c', statement])
  const psql = [
    'psql',
    '-X',
    '-q',
    '-h',
    '127.0.0.1',
    '-p',
    String(port),
    '-U',
    'postgres',
    '-d',
    'postgres',
    ...commands,
  ]
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
  await runCommand('chroot', [root, 'env', '-i', 'PATH=/usr/bin:/bin', ...psql], { env, signal: setup.signal })
}

function inNamespace(options: { root: string; data: string; owner: Owner; command: string[] }): string[] {
  const { root, data, owner, command } = options
  const parameters = [root, data, `${owner.uid}:${owner.gid}`, ...command]
  return ['--mount', '--propagation', 'private', '--', 'sh', '-c', IN_NAMESPACE, 'postgres', ...parameters]
}

/** Made beside its place and renamed, so that an interrupted first start leaves nothing half made. */
async function haveData(options: { root: string; data: string; owner: Owner; setup: Setup }): Promise<void> {
  const { root, data, owner, setup } = options
  const exists = await stat(data).then(
    () => true,
    () => false,
  )
  if (exists) return
  const unfinished = `${data}.unfinished`
  await rm(unfinished, { recursive: true, force: true })
  await mkdir(unfinished, { recursive: true })
  await chown(unfinished, owner.uid, owner.gid)
  await chmod(unfinished, 0o700)
  const command = ['initdb', '-D', '/srv/data', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8']
  const args = inNamespace({ root, data: unfinished, owner, command })
  await runCommand('unshare', args, { env: setup.env, signal: setup.signal })
  await rename(unfinished, data)
}
