import { startDelivering as start } from '../../../actors/delivery/start-delivering.ts'
import { startActorSystem } from '../../../actors/supervision.ts'
import { newId } from '../../../core/ids.ts'
import type { Runtime } from '../../../core/process.ts'
import { type AppSecrets, createApp } from '../../../schemas/app/apps.ts'
import { Deliveries, type Delivery } from '../../../schemas/delivery/delivery.ts'
import { deliveryIdOf, outboxEntry } from '../../../schemas/outbox.ts'
import { ConsumedLinks } from '../../../schemas/user/consumed-link.ts'
import type { EventName, EventPayloads } from '../../../wire/events.ts'
import { connectedTestDatabase } from '../../support/database.ts'
import { testRuntime } from '../../support/runtime.ts'
import { until } from '../../support/until.ts'

export const deliveringRuntime = ({ url, timeScale }: { url: string; timeScale: number }): Runtime =>
  testRuntime({ url, env: { TIME_SCALE: String(timeScale), WEBHOOK_PRIVATE_ADDRESSES: 'true' } })

/** The part of an actors process that delivers. */
export function startDelivering(runtime: Runtime): { stop(): Promise<void> } {
  const system = startActorSystem(runtime)
  const delivering = start({ runtime, system })
  return {
    stop: async () => {
      await delivering.stop()
      system.stop()
    },
  }
}

export interface World {
  url: string
  runtime: Runtime
  makeApp(options: { appId: string; webhookUrl?: string }): Promise<AppSecrets>
  delivery(id: string): Promise<Delivery | null>
  /** Waits until the delivery has ended one way or the other. */
  ended(id: string): Promise<Delivery>
  stop(): Promise<void>
}

/** An empty database and what is needed to deliver from it; `timeScale` 2400 makes the 62 minutes of retries 1.6 s. */
export async function startWorld({ timeScale = 2_400 }: { timeScale?: number } = {}): Promise<World> {
  const database = await connectedTestDatabase()
  const runtime = deliveringRuntime({ url: database.url, timeScale })
  const delivery = (id: string) => Deliveries.findById(id).lean<Delivery>()
  return {
    url: database.url,
    runtime,
    makeApp: ({ appId, webhookUrl }) =>
      createApp({
        appId,
        name: appId,
        contactEmail: 'x@example.test',
        ...(webhookUrl && { webhookUrl }),
        keyring: runtime.keyring,
        now: runtime.clock.now(),
        createdBy: 'test',
      }),
    delivery,
    ended: (id) =>
      until(`the end of delivery ${id}`, async () => {
        const found = await delivery(id)
        return found && found.state !== 'waiting' ? found : null
      }),
    stop: async () => {
      await database.stop()
    },
  }
}

/** Lets events happen, as a consumed link does: one document each, with its event in the outbox, not due yet where `held`. Returns the deliveryIds. */
export async function happen<E extends EventName>(
  list: { appId: string; event: E; payload: EventPayloads[E] }[],
  { held = false }: { held?: boolean } = {},
): Promise<string[]> {
  const now = new Date()
  const entries = list.map((one) => outboxEntry({ cause: newId(), at: now, ...one }))
  await ConsumedLinks.insertMany(
    entries.map((entry) => ({
      _id: newId(),
      purpose: 'connect',
      flowId: newId(),
      consumedAt: now,
      expireAt: new Date(now.getTime() + 86_400_000),
      outbox: [entry],
      ...(!held && { outboxAt: now }),
    })),
  )
  return entries.map(({ id }) => deliveryIdOf(id))
}

export const testEvent = (appId: string, message = 'hello') => ({
  appId,
  event: 'test.event' as const,
  payload: { userRef: 'user-1', message },
})
