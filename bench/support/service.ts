import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '../../core/ids.ts'
import { createRuntime, type Runtime } from '../../core/process.ts'
import { type AppSecrets, createApp } from '../../schemas/app/apps.ts'
import { writeCommand } from '../../schemas/command/commands.ts'
import { buildConnectCommand } from '../../schemas/command/connect-command.ts'
import { ensureUser } from '../../schemas/user/user.ts'
import { connectedTestDatabase } from '../../test/support/database.ts'

export const BENCH_APP = 'bench'
const UNLIMITED = 1_000_000

/** A provider of the benches, on this machine. */
interface BenchProvider {
  id: string
  sessionUrl: string
  apiBaseUrl: string
}

interface BenchService {
  runtime: Runtime
  /** What a process of the service is started with. */
  env: Record<string, string>
  /** Of its app. */
  secrets: AppSecrets
  /** Writes down what a finished login hands over; returns the ids of the command and of the connection that it will make. */
  handOver(login: {
    provider: string
    account: string
    cookie: string
  }): Promise<{ commandId: string; connectionId: string }>
  stop(): Promise<void>
}

/** Where no account is read. */
const UNASKED: BenchProvider = {
  id: 'bench',
  sessionUrl: 'http://127.0.0.1:1/session',
  apiBaseUrl: 'http://127.0.0.1:1',
}

/** An empty database with one app, and what the service's processes need to work on it with these providers. */
export async function startBenchService({
  providers = [UNASKED],
  webhookUrl,
}: {
  providers?: BenchProvider[]
  /** Where the app's events go; nowhere by default. */
  webhookUrl?: string
}): Promise<BenchService> {
  const database = await connectedTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'ccs-bench-'))
  const profiles = join(folder, 'profiles.json')
  await writeFile(profiles, JSON.stringify(providers.map(profileOf)))
  const env = {
    MONGODB_URL: database.url,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BASE_URL: 'http://127.0.0.1:1',
    OPERATOR_KEY: 'operator-key-of-the-bench-0123456789',
    PROVIDER_PROFILES: profiles,
    WEBHOOK_PRIVATE_ADDRESSES: 'true',
    LOG_LEVEL: 'error',
  }
  const runtime = createRuntime({ kind: 'bench', env })
  const { clock, keyring } = runtime
  const app = { appId: BENCH_APP, name: BENCH_APP, contactEmail: 'x@example.test', createdBy: 'bench' }
  const secrets = await createApp({ ...app, ...(webhookUrl && { webhookUrl }), keyring, now: clock.now() })
  return {
    runtime,
    env,
    secrets,
    handOver: async ({ provider, account, cookie }) => {
      const user = await ensureUser({ appId: BENCH_APP, userRef: account, now: clock.now() })
      const connectionId = newId()
      const command = buildConnectCommand({
        connectionId,
        appId: BENCH_APP,
        by: { kind: 'link', id: 'bench' },
        userId: user._id,
        userRef: user.userRef,
        generation: 0,
        provider,
        credential: { cookie, account: { id: account } },
        keyring,
        now: clock.now(),
      })
      return { commandId: await writeCommand(command), connectionId }
    },
    stop: async () => {
      await database.stop()
      await rm(folder, { recursive: true })
    },
  }
}

const profileOf = (provider: BenchProvider) => ({
  ...provider,
  displayName: 'Bench',
  loginUrl: provider.sessionUrl,
  cookieDomain: '127.0.0.1',
  cookieName: 'session',
  allowedHosts: ['127.0.0.1'],
  pageSize: 100,
  requestsPerMinute: UNLIMITED,
})
