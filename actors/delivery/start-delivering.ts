import type { Runtime } from '../../core/process.ts'
import type { LiveActor } from '../../schemas/operations/actor-snapshot.ts'
import { createOutboxRelay } from '../outbox-relay.ts'
import type { Share } from '../share.ts'
import type { ActorSystem } from '../supervision.ts'
import { createDeliveries } from './deliveries.ts'

interface Delivering {
  /** Attempts under way. */
  size(): number
  list(): LiveActor[]
  stop(): Promise<void>
}

/** All that brings events from the outboxes to the apps' webhooks. */
export function startDelivering({
  runtime,
  system,
  share,
}: {
  runtime: Runtime
  system: ActorSystem
  /** Of the documents with events. */
  share?: Share
}): Delivering {
  const deliveries = createDeliveries({ runtime, supervisor: system.supervise('deliveries', 'delivery') })
  const relay = createOutboxRelay({ runtime, accept: deliveries.accept, ...(share && { share }) })
  return {
    size: deliveries.size,
    list: deliveries.list,
    stop: async () => {
      await deliveries.stop()
      // After them: what is relayed meanwhile waits for another process.
      await relay.stop()
    },
  }
}
