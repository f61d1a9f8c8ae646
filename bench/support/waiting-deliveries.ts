import { newId } from '../../core/ids.ts'
import { Deliveries } from '../../schemas/delivery/delivery.ts'
import { bringLanesForward } from '../../schemas/delivery/delivery-lane.ts'

/** Puts so many deliveries of one app there that were tried once and are due at `at`. */
export async function waitingDeliveries({
  appId,
  count,
  at,
}: {
  appId: string
  count: number
  at: Date
}): Promise<void> {
  const documents = Array.from({ length: count }, () => {
    const deliveryId = newId()
    return {
      _id: deliveryId,
      appId,
      event: 'test.event',
      body: JSON.stringify({ event: 'test.event', payload: { userRef: 'user-1', message: 'hello' }, deliveryId }),
      state: 'waiting',
      attempts: [{ number: 1, at, status: 503, durationMs: 12, error: 'Answered 503' }],
      attemptsBefore: 0,
      createdAt: at,
      claimableAt: at,
      fence: 1,
    }
  })
  await Deliveries.collection.insertMany(documents as never[], { ordered: false })
  await bringLanesForward(new Map([[appId, at]]))
}
