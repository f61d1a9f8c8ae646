import type { Clock } from '../../core/clock.ts'
import type { Keyring } from '../../core/envelope.ts'
import type { DailyCounter } from '../../schemas/app/daily-count.ts'
import { insertDeliveries, type NewDelivery } from '../../schemas/delivery/deliveries.ts'
import type { Delivery } from '../../schemas/delivery/delivery.ts'
import type { ConcurrencyLimit, Room } from './concurrency-limit.ts'
import { countDiscarded } from './discard.ts'
import { type Endpoint, goesNowhere, readEndpoints } from './endpoints.ts'

/**
 * A list that finds the limit reached waits this long (machine ms): while events come faster than they go out, to begin them with
 * their insert is half the work of claiming them later. Short enough to delay nobody.
 */
const WAIT_MS = 50
const LOOK_EVERY_MS = 2

/**
 * Writes new deliveries down and begins those that may begin here and now: their claim is part of the insert, so that an
 * event costs one write less and goes out sooner. The rest wait for any process to claim them. Events of apps without a webhook
 * URL are discarded.
 */
export async function acceptDeliveries({
  list,
  concurrency,
  clock,
  keyring,
  allowPrivate,
  attempt,
  daily,
}: {
  list: NewDelivery[]
  concurrency: ConcurrencyLimit
  clock: Clock
  keyring: Keyring
  /** A sandbox on a developer's own machine. */
  allowPrivate: boolean
  /** Makes the attempt that was begun; counts it at once. */
  attempt: (delivery: Delivery, endpoint: Endpoint) => void
  daily: DailyCounter
}): Promise<void> {
  const counts = new Map<string, number>()
  for (const { appId } of list) counts.set(appId, (counts.get(appId) ?? 0) + 1)
  const isTight = () =>
    [...counts].some(([appId, count]) => concurrency.free(appId) < count && concurrency.freesSoon(appId))
  const waitForRoom = async (): Promise<void> => {
    const giveUp = clock.elapsed() + WAIT_MS
    while (isTight() && clock.elapsed() < giveUp) await clock.sleep(LOOK_EVERY_MS)
  }
  const reading = readEndpoints({ appIds: [...counts.keys()], keyring, now: clock.now(), allowPrivate })
  const [endpointOf] = await Promise.all([reading, waitForRoom()])

  const now = clock.now()
  const begun: { delivery: NewDelivery; room: Room }[] = []
  const waiting: NewDelivery[] = []
  const discarded: NewDelivery[] = []
  for (const delivery of list) {
    const { appId } = delivery
    if (goesNowhere(endpointOf(appId))) discarded.push(delivery)
    else if (concurrency.free(appId) === 0) waiting.push(delivery)
    else begun.push({ delivery, room: concurrency.enter(appId) })
  }
  const ours = await insertDeliveries({ waiting, begun: begun.map(({ delivery }) => delivery), now }).finally(() => {
    for (const { room } of begun) room.end()
  })
  for (const delivery of ours) attempt(delivery, endpointOf(delivery.appId))
  for (const { appId } of discarded) daily.add(appId, 'discarded')
  await countDiscarded(discarded, now)
}
