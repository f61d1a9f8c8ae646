import { newId } from '../../core/ids.ts'
import { Commands } from '../../schemas/command/command.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { Deliveries } from '../../schemas/delivery/delivery.ts'
import { bringLanesForward } from '../../schemas/delivery/delivery-lane.ts'
import { until } from '../../test/support/until.ts'
import { startBenchService } from '../support/service.ts'

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
  const provider = { id: 'bench', sessionUrl: `${site}/session`, apiBaseUrl: site }
  const service = await startBenchService({ providers: [provider] })
  /** The account of each connection. */
  const accountOf = new Map<string, string>()

  return {
    env: service.env,
    connect: async (accounts) => {
      for (const account of accounts) {
        const { connectionId } = await service.handOver({ provider: provider.id, account, cookie: account })
        accountOf.set(connectionId, account)
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
    stop: service.stop,
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
