import { trusted } from '../../schemas/database.ts'
import { Deliveries } from '../../schemas/delivery/delivery.ts'
import { waitingOf } from '../../schemas/delivery/delivery-lane.ts'
import { ConsumedLinks } from '../../schemas/user/consumed-link.ts'
import { happen, startDelivering, startWorld, testEvent } from '../../test/actors/delivery/world.ts'
import { until } from '../../test/support/until.ts'

/** Indexed and small, so that looking on does not slow down what is looked at. */
const somethingWaits = async (): Promise<unknown> =>
  (await ConsumedLinks.exists({ outboxAt: trusted({ $exists: true }) })) ??
  (await Deliveries.exists(waitingOf('bench')))

/** Events lie in outboxes; measures until the last of them is recorded as delivered. Returns deliveries per second. */
export async function ours({ url, count }: { url: string; count: number }): Promise<number> {
  const world = await startWorld({ timeScale: 1 })
  try {
    await world.makeApp({ appId: 'bench', webhookUrl: url })
    await happen(Array.from({ length: count }, (_, index) => testEvent('bench', `event ${index}`)))
    const began = performance.now()
    const delivering = startDelivering(world.runtime)
    await until('all recorded', async () => !(await somethingWaits()), { giveUpMs: 120_000 })
    const seconds = (performance.now() - began) / 1_000
    await delivering.stop()
    const delivered = await Deliveries.countDocuments({ state: 'delivered' })
    if (delivered !== count) throw new Error(`${delivered} of ${count} events were delivered`)
    return count / seconds
  } finally {
    await world.stop()
  }
}
