import { carryOut } from '../../actors/commands/carry-out.ts'
import type { ActorRuntime } from '../../actors/runtime.ts'
import { whenDue } from '../../actors/sync/when-due.ts'
import { newId } from '../../core/ids.ts'
import { createRuntime } from '../../core/process.ts'
import { providerProfile } from '../../provider/profile.ts'
import { createApp } from '../../schemas/app/apps.ts'
import { claimMany } from '../../schemas/claims.ts'
import { type Command, Commands } from '../../schemas/command/command.ts'
import { writeCommand } from '../../schemas/command/commands.ts'
import { buildConnectCommand } from '../../schemas/command/connect-command.ts'
import { type Connection, Connections } from '../../schemas/connection/connection.ts'
import { connectDatabase } from '../../schemas/database.ts'
import { createHeldClaims } from '../../schemas/held-claims.ts'
import { createIndexes } from '../../schemas/indexes.ts'
import { ensureUser } from '../../schemas/user/user.ts'
import { testDatabase } from '../../test/support/database.ts'

const APP = 'bench'
const UNLIMITED = 1_000_000
const PAGE_SIZE = 100

interface SyncWorld {
  /** Connects an account with so many conversations; takes the same account again as a reconnect. Returns the connection. */
  connect(total: number): Promise<{ connection: Connection; ms: number }>
  /** The sync of a connection that is due. */
  sync(connection: Connection): Promise<{ connection: Connection; ms: number }>
  stop(): Promise<void>
}

/** The actors' own functions on a real database, one call at a time, without the polling around them. */
export async function startSyncWorld({ site }: { site: string }): Promise<SyncWorld> {
  const database = await testDatabase()
  const runtime = createRuntime({
    kind: 'bench',
    env: {
      MONGODB_URL: database.url,
      MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      BASE_URL: 'http://127.0.0.1:1',
      OPERATOR_KEY: 'operator-key-of-the-bench-0123456789',
      PROVIDER_SITE: site,
      LOG_LEVEL: 'error',
    },
  })
  const { clock, keyring, log } = runtime
  const connected = await connectDatabase({ url: database.url })
  await createIndexes()
  const held = createHeldClaims({ clock, log })
  const profileOf = (total: number) =>
    providerProfile.parse({
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
  const actors: ActorRuntime = { ...runtime, held, profiles: [] }
  await createApp({
    appId: APP,
    name: APP,
    contactEmail: 'x@example.test',
    keyring,
    now: clock.now(),
    createdBy: 'bench',
  })
  const { signal } = new AbortController()

  return {
    connect: async (total) => {
      if (!actors.profiles.some(({ id }) => id === `bench-${total}`)) actors.profiles.push(profileOf(total))
      const user = await ensureUser({ appId: APP, userRef: `user ${total}`, now: clock.now() })
      const connectionId = newId()
      await writeCommand(
        buildConnectCommand({
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
        }),
      )
      const [command] = await claimMany<Command>(Commands, { now: clock.now(), limit: 1 })
      if (!command) throw new Error('no command')
      const begin = performance.now()
      await carryOut({ command, runtime: actors, signal })
      const ms = performance.now() - begin
      const connection = await Connections.findById(connectionId).lean<Connection>()
      if (!connection) throw new Error('not connected')
      return { connection, ms }
    },
    sync: async ({ _id }) => {
      const [claimed] = await claimMany<Connection>(Connections, { now: clock.now(), filter: { _id }, limit: 1 })
      if (!claimed) throw new Error('not due')
      const begin = performance.now()
      await whenDue({ connection: claimed, runtime: actors, signal })
      const ms = performance.now() - begin
      const connection = await Connections.findById(_id).lean<Connection>()
      if (!connection?.sync.outcome?.startsWith('complete')) throw new Error(`${connection?.sync.outcome}`)
      return { connection, ms }
    },
    stop: async () => {
      await held.stop()
      await connected.close()
      await database.drop()
    },
  }
}
