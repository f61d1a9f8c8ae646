import { trusted } from '../../schemas/database.ts'
import { Deliveries } from '../../schemas/delivery/delivery.ts'
import { waitingOf } from '../../schemas/delivery/delivery-lane.ts'
import { ConsumedLinks } from '../../schemas/user/consumed-link.ts'
import { happen, testEvent } from '../../test/actors/delivery/world.ts'
import { until } from '../../test/support/until.ts'
import { startActorsProcess } from '../scale/actors-process.ts'
import { BENCH_APP, startBenchService } from '../support/service.ts'

/** Indexed and small, so that looking on does not slow down what is looked at. */
const somethingWaits = async (): Promise<unknown> =>
  (await ConsumedLinks.exists({ outboxAt: trusted({ $exists: true }) })) ??
  (await Deliveries.exists(waitingOf(BENCH_APP)))

interface Ours {
  /** Lets so many events lie in outboxes, due all at once. Returns deliveries per second, from the first post until the last is recorded. */
  deliver(count: number): Promise<number>
  stop(): Promise<void>
}

/** An actors process as the service's parent starts it, all of whose events go to one app. */
export async function startOurs({ url, firstPost }: { url: string; firstPost: () => Promise<number> }): Promise<Ours> {
  const service = await startBenchService({ webhookUrl: url })
  const actors = await startActorsProcess(service.env)
  return {
    deliver: async (count) => {
      const held = trusted({ $exists: false })
      await happen(
        Array.from({ length: count }, (_, index) => testEvent(BENCH_APP, `event ${index}`)),
        { held: true },
      )
      const first = firstPost()
      await ConsumedLinks.updateMany(
        { outboxAt: held, 'outbox.0': trusted({ $exists: true }) },
        { $set: { outboxAt: new Date() } },
      )
      const began = await first
      await until('all recorded', async () => !(await somethingWaits()), { giveUpMs: 120_000 })
      const seconds = (Date.now() - began) / 1_000
      const delivered = await Deliveries.countDocuments({ state: 'delivered' })
      if (delivered !== count) throw new Error(`${delivered} of ${count} events were delivered`)
      await Promise.all([Deliveries.deleteMany({}), ConsumedLinks.deleteMany({})])
      return count / seconds
    },
    stop: async () => {
      await actors.stop()
      await service.stop()
    },
  }
}
