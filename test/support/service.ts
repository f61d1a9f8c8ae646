import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { testDatabase } from './database.ts'
import { until } from './until.ts'

/** The line of docs/behaviour.md, npm start -- --json. */
interface ServiceLine {
  baseUrl: string
  provider: { id: string; site: string }
  app: { appId: string; appSecret: string; apiKey: string; webhookSecret: string }
  partner: { url: string }
  portal: { url: string; signInUrl: string }
  operator: { url: string; key: string }
  databaseUrl: string
  processes: Record<string, number[]>
}

/** The whole service as `npm start` starts it, in processes of its own, on free ports and a database of its own. */
export interface Service extends ServiceLine {
  /** Of the parent of its processes. */
  pid: number
  dataDir: string
  /** Ends one process of a kind with SIGKILL and waits until the parent has started another in its place. */
  kill(kind: string): Promise<void>
  /** Process ids by kind, as operators see them. */
  processIds(): Promise<Record<string, number[]>>
  /** GET of an /ops path. */
  ops<T>(path: string): Promise<T>
  /** Everything written to stderr so far. */
  log(): string
  stop(): Promise<void>
}

const REPOSITORY = new URL('../..', import.meta.url).pathname
const EXIT_TIMEOUT_MS = 20_000

/** On an empty database of its own, or on the one at `databaseUrl`, which stays. */
export async function startService({
  env = {},
  databaseUrl,
}: {
  env?: Record<string, string>
  databaseUrl?: string
} = {}): Promise<Service> {
  const database = databaseUrl ? { url: databaseUrl, drop: async () => undefined } : await testDatabase()
  const dataDir = await mkdtemp(join(tmpdir(), 'ccs-test-'))
  const child = spawn(process.execPath, ['start/bootstrap.js', 'start', '--json'], {
    cwd: REPOSITORY,
    env: { ...process.env, PORT: '0', DATA_DIR: dataDir, MONGODB_URL: database.url, LOG_LEVEL: 'info', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => {
    log += chunk.toString('utf8')
  })
  const line = await firstLine(child, () => log)
  const ops = async <T>(path: string): Promise<T> => {
    const answer = await fetch(`${line.operator.url}/${path}`, {
      headers: { authorization: `Bearer ${line.operator.key}` },
    })
    if (!answer.ok) throw new Error(`/ops/${path} answers ${answer.status}`)
    return (await answer.json()) as T
  }
  const processIds = async () => (await ops<{ processes: Record<string, number[]> }>('overview')).processes
  return {
    ...line,
    pid: child.pid ?? 0,
    dataDir,
    ops,
    processIds,
    log: () => log,
    kill: async (kind) => {
      const [victim] = (await processIds())[kind] ?? []
      if (victim === undefined) throw new Error(`no ${kind} process`)
      process.kill(victim, 'SIGKILL')
      await until(`another ${kind} process`, async () => {
        const present = (await processIds().catch(() => ({}) as Record<string, number[]>))[kind] ?? []
        return present.some((pid) => pid !== victim)
      })
    },
    stop: async () => {
      await stopChild(child, () => log)
      await database.drop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

function firstLine(child: ChildProcess, log: () => string): Promise<ServiceLine> {
  return new Promise((resolve, reject) => {
    if (!child.stdout) return reject(new Error('no stdout'))
    createInterface(child.stdout).once('line', (text) => resolve(JSON.parse(text) as ServiceLine))
    child.once('exit', (code) => reject(new Error(`the service did not start (${code}):\n${log()}`)))
  })
}

async function stopChild(child: ChildProcess, log: () => string): Promise<void> {
  if (child.exitCode !== null) return
  const exited = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  child.kill('SIGTERM')
  const timeout = setTimeout(() => child.kill('SIGKILL'), EXIT_TIMEOUT_MS)
  const code = await exited
  clearTimeout(timeout)
  if (code !== 0) throw new Error(`the service ended with ${code}:\n${log().slice(-4_000)}`)
}
