import { newId } from '../../core/ids.ts'
import { Commands } from '../../schemas/command/command.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { until } from '../../test/support/until.ts'
import { startBenchService } from '../support/service.ts'
import { waitingDeliveries } from '../support/waiting-deliveries.ts'

const BATCH = 5_000
const APPS = 100
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
        await waitingDeliveries({ appId: `app ${(made / BATCH) % APPS}`, count: BATCH, at })
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
