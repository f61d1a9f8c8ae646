import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Registry } from 'prom-client'
import { startActors } from '../../actors/start-actors.ts'
import { startFarm } from '../../browser-farm/farm.ts'
import { createParts } from '../../core/parts.ts'
import { createRuntime } from '../../core/process.ts'
import { createServer } from '../../http/server.ts'
import { loadProfiles } from '../../provider/load-profiles.ts'
import { createApp } from '../../schemas/app/apps.ts'
import { startWork } from '../../schemas/service-process.ts'
import { type SignLinkOptions, signLink } from '../../sdk/src/index.ts'
import { freePort } from '../../start/set-up/database/ports.ts'
import { type RunningSite, startSite } from '../provider/sandbox.ts'
import { connectedTestDatabase } from '../support/database.ts'

const FARM_MAIN = fileURLToPath(new URL('../../browser-farm/main.ts', import.meta.url))
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

/** The hosted page, its relay and the actors in this process, on a real database and the real sandbox provider; farm nodes as wanted. */
export interface FarmWorld {
  baseUrl: string
  site: RunningSite
  runtime: ReturnType<typeof createRuntime>
  link(options: Partial<SignLinkOptions> & { userRef: string }): string
  /** A farm node in this process. */
  farm(): Promise<{ url: string; stop(): Promise<void> }>
  /** A farm node in a process of its own; `env` is what differs there. */
  farmProcess(options?: { env?: Record<string, string> }): Promise<ChildProcess>
  databaseUrl: string
  stop(): Promise<void>
}

export async function startFarmWorld({ env = {} }: { env?: Record<string, string> } = {}): Promise<FarmWorld> {
  const site = await startSite()
  const database = await connectedTestDatabase()
  const port = await freePort()
  const baseUrl = `http://127.0.0.1:${port}`
  const variables = {
    MONGODB_URL: database.url,
    MASTER_KEY,
    BASE_URL: baseUrl,
    OPERATOR_KEY: 'operator-key-of-the-tests-0123456789',
    TIME_SCALE: '10',
    PROVIDER_SITE: site.url,
    WEBHOOK_PRIVATE_ADDRESSES: 'true',
    LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
    CHROMIUM_PATH: process.env['CHROMIUM_PATH'] ?? '',
    ...env,
  }
  const runtime = createRuntime({ kind: 'test', env: variables })
  const appSecret = await makeApp(runtime)
  const stopHttp = await startPages({ runtime, port })
  const actors = await startActors(runtime)
  const stops: (() => Promise<void>)[] = []
  return {
    baseUrl,
    site,
    runtime,
    link: (options) => signLink({ appId: APP_ID, appSecret, baseUrl, ...options }).url,
    farm: async () => {
      const parts = createParts(runtime)
      stops.push(parts.stop)
      const own = { ...runtime, metrics: new Registry() }
      const { url = '' } = await startWork({ kind: 'browser-farm', runtime: own, parts, start: startFarm })
      return { url, stop: parts.stop }
    },
    databaseUrl: database.url,
    farmProcess: async ({ env: own = {} } = {}) => {
      const child = fork(FARM_MAIN, { env: { ...process.env, ...variables, ...own }, execArgv: ['--import', 'tsx'] })
      stops.push(() => end(child))
      const [message] = (await once(child, 'message')) as [{ ready?: boolean }]
      if (!message.ready) throw new Error('the farm process did not start')
      return child
    },
    stop: async () => {
      for (const stop of stops) await stop()
      await stopHttp()
      await actors.stop()
      await database.stop()
      await site.stop()
    },
  }
}

const APP_ID = 'shop'

async function makeApp({ keyring, clock }: ReturnType<typeof createRuntime>): Promise<string> {
  const { appSecret } = await createApp({
    appId: APP_ID,
    name: 'Acme Notes',
    contactEmail: 'x@example.test',
    primaryColor: '#0f6fde',
    keyring,
    now: clock.now(),
    createdBy: 'test',
  })
  return appSecret
}

async function startPages({ runtime, port }: { runtime: ReturnType<typeof createRuntime>; port: number }) {
  const profiles = await loadProfiles(runtime.config)
  const { server, stopViewers } = await createServer({ ...runtime, profiles })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return async () => {
    stopViewers()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
