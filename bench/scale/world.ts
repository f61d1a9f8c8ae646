import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { newId } from '../../core/ids.ts'
import { createRuntime } from '../../core/process.ts'
import { createApp } from '../../schemas/app/apps.ts'
import { Commands } from '../../schemas/command/command.ts'
import { writeCommand } from '../../schemas/command/commands.ts'
import { buildConnectCommand } from '../../schemas/command/connect-command.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { Deliveries } from '../../schemas/delivery/delivery.ts'
import { bringLanesForward } from '../../schemas/delivery/delivery-lane.ts'
import { ensureUser } from '../../schemas/user/user.ts'
import { connectedTestDatabase } from '../../test/support/database.ts'
import { until } from '../../test/support/until.ts'

const APP = 'bench'
const BATCH = 5_000
const HOUR_MS = 3_600_000
const PATIENCE = { giveUpMs: 600_000, everyMs: 100 }

interface ScaleWorld {
  /** What an actors process is started with. */
  env: Record<string, string>
  /** Writes the hand-overs of so many logins, as the browser farm does; some actors process carries them out. */
  connect(accounts: string[]): Promise<void>
  /** Waits until all of them are connected and were synced once. */
  connected(count: number): Promise<void>
  /** Puts so many connections and deliveries there that are due in an hour. */
  sleepers(count: number): Promise<void>
  /** Makes every connection of an account due, one after the other over so long (ms). Returns when each is (`performance.now()`). */
  spread(overMs: number): Promise<Map<string, number>>
  stop(): Promise<void>
}

export async function startScaleWorld({ site }: { site: string }): Promise<ScaleWorld> {
  const database = await connectedTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'ccs-bench-scale-'))
  const profiles = join(folder, 'profiles.json')
  await writeFile(profiles, JSON.stringify([profileOf(site)]))
  const env = {
    MONGODB_URL: database.url,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BASE_URL: 'http://127.0.0.1:1',
    OPERATOR_KEY: 'operator-key-of-the-bench-0123456789',
    PROVIDER_PROFILES: profiles,
    LOG_LEVEL: 'error',
  }
  const { clock, keyring } = createRuntime({ kind: 'bench', env })
  await createApp({
    appId: APP,
    name: APP,
    contactEmail: 'x@example.test',
    keyring,
    now: clock.now(),
    createdBy: 'bench',
  })
  /** The account of each connection. */
  const accountOf = new Map<string, string>()

  return {
    env,
    connect: async (accounts) => {
      for (const account of accounts) {
        const user = await ensureUser({ appId: APP, userRef: account, now: clock.now() })
        const connectionId = newId()
        accountOf.set(connectionId, account)
        const command = buildConnectCommand({
          connectionId,
          appId: APP,
          by: { kind: 'link', id: 'bench' },
          userId: user._id,
          userRef: user.userRef,
          generation: 0,
          provider: 'bench',
          credential: { cookie: account, account: { id: account } },
          keyring,
          now: clock.now(),
        })
        await writeCommand(command)
      }
    },
    connected: async (count) => {
      await until(
        'all connected and synced',
        async () => (await Connections.countDocuments({ 'sync.outcome': /^complete/ })) >= count,
        PATIENCE,
      )
      const failed = await Commands.countDocuments({ state: 'failed' })
      if (failed > 0) throw new Error(`${failed} connects failed`)
    },
    sleepers: async (count) => {
      const pattern = await Connections.collection.findOne({})
      for (let made = 0; made < count; made += BATCH) {
        const at = new Date(Date.now() + HOUR_MS + made)
        await Connections.collection.insertMany(
          Array.from({ length: BATCH }, () => {
            const _id = newId()
            return { ...pattern, _id, userId: _id, userRef: _id, accountId: _id, claimableAt: at }
          }) as never[],
          { ordered: false },
        )
        await Deliveries.collection.insertMany(deliveries(`app ${made % 100}`, at) as never[], { ordered: false })
        await bringLanesForward(new Map([[`app ${made % 100}`, at]]))
      }
    },
    spread: async (overMs) => {
      const [start, startDate] = [performance.now() + 1_000, Date.now() + 1_000]
      const due = new Map<string, number>()
      const writes = [...accountOf].map(([_id, account], index) => {
        const offset = (index * overMs) / accountOf.size
        due.set(account, start + offset)
        const claimableAt = new Date(startDate + offset)
        return { updateOne: { filter: { _id }, update: { $set: { claimableAt } } } }
      })
      await Connections.collection.bulkWrite(writes as never[], { ordered: false })
      return due
    },
    stop: async () => {
      await database.stop()
      await rm(folder, { recursive: true })
    },
  }
}

const deliveries = (appId: string, at: Date) =>
  Array.from({ length: BATCH }, () => ({
    _id: newId(),
    appId,
    event: 'test.event',
    body: '{"event":"test.event","payload":{"userRef":"user-1","message":"hello"},"deliveryId":"x"}',
    state: 'waiting',
    attempts: [{ number: 1, at, status: 503, durationMs: 12, error: 'Answered 503' }],
    attemptsBefore: 0,
    createdAt: at,
    claimableAt: at,
    fence: 1,
  }))

const profileOf = (site: string) => ({
  id: 'bench',
  displayName: 'Bench',
  loginUrl: `${site}/login`,
  cookieDomain: '127.0.0.1',
  cookieName: 'session',
  sessionUrl: `${site}/session`,
  apiBaseUrl: site,
  allowedHosts: ['127.0.0.1'],
  pageSize: 100,
  requestsPerMinute: 1_000_000,
})
