import { Apps } from '../../schemas/app/app.ts'
import type { NewDelivery } from '../../schemas/delivery/deliveries.ts'

/** Events of apps without a webhook URL go nowhere (docs/behaviour.md, Events); the app's document says how many there were. */
export async function countDiscarded(discarded: NewDelivery[], now: Date): Promise<void> {
  const events = new Map<string, number>()
  for (const { appId } of discarded) events.set(appId, (events.get(appId) ?? 0) + 1)
  if (events.size === 0) return
  await Apps.bulkWrite(
    [...events].map(([appId, count]) => ({
      updateOne: {
        filter: { _id: appId },
        update: { $inc: { 'discarded.events': count }, $set: { 'discarded.at': now } },
      },
    })),
    { ordered: false },
  )
}
