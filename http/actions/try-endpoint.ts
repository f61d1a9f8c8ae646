import { SECOND } from '../../core/clock.ts'
import { Deliveries, type Delivery } from '../../schemas/delivery/delivery.ts'
import { audited } from '../../schemas/operations/audit.ts'
import type { Act } from './act.ts'
import { sendTestEvent } from './test-event.ts'

/** An attempt takes 10 s at most; a little more for its way there and back. */
const WAIT_MS = 13 * SECOND
const LOOK_EVERY_MS = 50

/**
 * Sends a test event to an app's webhook and waits for its first attempt. Returns the delivery, whose attempt may still be under way; null where
 * the app has no webhook URL.
 */
export async function tryEndpoint({
  appId,
  by,
  runtime,
  signal,
}: Act & { appId: string; signal?: AbortSignal }): Promise<Delivery | null> {
  const { clock } = runtime
  const message = 'A test event, sent from the developer portal'
  const end = clock.elapsed() + WAIT_MS
  const { deliveryId } = await audited(
    { at: clock.now(), by, action: 'webhook.tested', appId, target: appId },
    () => sendTestEvent({ appId, message, by, runtime }),
    (sent) => ({ target: sent.deliveryId ?? appId }),
  )
  if (deliveryId === null) return null
  for (;;) {
    const delivery = await Deliveries.findOne({ _id: deliveryId, appId }).lean<Delivery>()
    if (delivery?.attempts[0]?.durationMs !== undefined || clock.elapsed() > end) return delivery
    await clock.sleep(LOOK_EVERY_MS, signal)
  }
}
