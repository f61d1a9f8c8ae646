import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startActors } from '../../actors/start-actors.ts'
import { newId } from '../../core/ids.ts'
import { createRuntime } from '../../core/process.ts'
import { createApp } from '../../schemas/app/apps.ts'
import { Commands } from '../../schemas/command/command.ts'
import { writeCommand } from '../../schemas/command/commands.ts'
import { buildConnectCommand } from '../../schemas/command/connect-command.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { ensureUser } from '../../schemas/user/user.ts'
import { connectedTestDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/until.ts'

const APP = 'bench'
const UNLIMITED = 1_000_000
const PAGE_SIZE = 100
/** Small beside what is measured. */
const LOOK = { everyMs: 2, giveUpMs: 300_000 }

interface SyncWorld {
  /** Connects an account with so many conversations, as a finished login does; the same account again is a reconnect. Returns what it took (ms). */
  connect(total: number): Promise<{ connection: Connection; ms: number }>
  /** Waits for the end of the first sync, which begins by itself. Returns what it took since the connection was there (ms). */
  synced(connection: Connection): Promise<number>
  stop(): Promise<void>
}

/** All actors of one process, in this one, on a real database; `accounts` says how many conversations the provider's accounts may have. */
export async function startSyncWorld({
  site,
  accounts,
  syncsAtOnce,
}: {
  site: string
  accounts: number[]
  syncsAtOnce?: number
}): Promise<SyncWorld> {
  const database = await connectedTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'ccs-bench-sync-'))
  const profiles = join(folder, 'profiles.json')
  await writeFile(profiles, JSON.stringify([...new Set(accounts)].map((total) => profileOf({ site, total }))))
  const runtime = createRuntime({
    kind: 'bench',
    env: {
      MONGODB_URL: database.url,
      MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      BASE_URL: 'http://127.0.0.1:1',
      OPERATOR_KEY: 'operator-key-of-the-bench-0123456789',
      PROVIDER_PROFILES: profiles,
      LOG_LEVEL: 'error',
    },
  })
  const { clock, keyring } = runtime
  const actors = await startActors(runtime, syncsAtOnce === undefined ? {} : { syncsAtOnce })
  await createApp({
    appId: APP,
    name: APP,
    contactEmail: 'x@example.test',
    keyring,
    now: clock.now(),
    createdBy: 'bench',
  })

  return {
    connect: async (total) => {
      const user = await ensureUser({ appId: APP, userRef: `user ${total}`, now: clock.now() })
      const connectionId = newId()
      const command = buildConnectCommand({
        connectionId,
        appId: APP,
        by: { kind: 'link', id: 'bench' },
        userId: user._id,
        userRef: user.userRef,
        generation: 0,
        provider: `bench-${total}`,
        credential: { cookie: 'cookie', account: { id: `account-${total}` } },
        keyring,
        now: clock.now(),
      })
      const begin = performance.now()
      const _id = await writeCommand(command)
      await until('connected', () => Commands.exists({ _id, state: 'done' }), LOOK)
      const ms = performance.now() - begin
      const connection = await Connections.findById(connectionId).lean<Connection>()
      if (!connection) throw new Error('not connected')
      return { connection, ms }
    },
    synced: async ({ _id }) => {
      const begin = performance.now()
      const { sync } = await until(
        'synced',
        () => Connections.findOne({ _id, 'sync.outcome': /./ }).lean<Connection>(),
        LOOK,
      )
      if (!sync.outcome?.startsWith('complete')) throw new Error(`${sync.outcome}`)
      return performance.now() - begin
    },
    stop: async () => {
      await actors.stop()
      await database.stop()
      await rm(folder, { recursive: true })
    },
  }
}

const profileOf = ({ site, total }: { site: string; total: number }) => ({
  id: `bench-${total}`,
  displayName: 'Bench',
  loginUrl: `${site}/login`,
  cookieDomain: '127.0.0.1',
  cookieName: 'session',
  sessionUrl: `${site}/${total}/session`,
  apiBaseUrl: `${site}/${total}`,
  allowedHosts: ['127.0.0.1'],
  pageSize: PAGE_SIZE,
  requestsPerMinute: UNLIMITED,
})
