import type { Clock } from '../../core/clock.ts'
import type { Keyring } from '../../core/envelope.ts'
import { insertDeliveries, type NewDelivery } from '../../schemas/deliveries.ts'
import type { Delivery } from '../../schemas/delivery.ts'
import { type Endpoint, readEndpoints } from './endpoints.ts'
import type { Rooms } from './rooms.ts'

/**
 * Writes new deliveries down and begins those that there is room for here and now: their claim is part of the insert, so that an
 * event on an idle service costs one write less and goes out sooner. The rest wait for any process to claim them.
 */
export async function acceptDeliveries({
  list,
  rooms,
  clock,
  keyring,
  attempt,
}: {
  list: NewDelivery[]
  rooms: Rooms
  clock: Clock
  keyring: Keyring
  /** Makes the attempt that was begun; enters a room for it at once. */
  attempt: (delivery: Delivery, endpoint: Endpoint) => void
}): Promise<void> {
  const now = clock.now()
  const endpointOf = await readEndpoints({ appIds: [...new Set(list.map(({ appId }) => appId))], keyring, now })
  const begun: NewDelivery[] = []
  const waiting: NewDelivery[] = []
  for (const delivery of list) {
    if (rooms.free(delivery.appId) === 0) {
      waiting.push(delivery)
      continue
    }
    rooms.enter(delivery.appId)
    begun.push(delivery)
  }
  const ours = await insertDeliveries({ waiting, begun, now }).finally(() => {
    for (const { appId } of begun) rooms.leave(appId)
  })
  for (const delivery of ours) attempt(delivery, endpointOf(delivery.appId))
}
