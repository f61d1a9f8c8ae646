import type { Model } from 'mongoose'
import { SECOND } from '../core/clock.ts'
import type { Runtime } from '../core/process.ts'
import { Commands } from '../schemas/command/command.ts'
import { Connections } from '../schemas/connection/connection.ts'
import { dueBy, trusted } from '../schemas/database.ts'
import type { NewDelivery } from '../schemas/delivery/deliveries.ts'
import { Leases } from '../schemas/lease/lease.ts'
import { deliveryIdOf, type HasOutbox } from '../schemas/outbox.ts'
import { Captures } from '../schemas/user/capture.ts'
import { ConsumedLinks } from '../schemas/user/consumed-link.ts'
import type { IdRange } from './id-range.ts'
import type { Share } from './share.ts'
import { startWorkPoller } from './work-poller.ts'

type OutboxDocument = HasOutbox & { _id: string }

/** Every document that may hold events to send. */
const OUTBOXES = [Connections, Commands, ConsumedLinks, Leases, Captures] as unknown as Model<OutboxDocument>[]
const DOCUMENTS_AT_ONCE = 1_024
/** While these are accepted, those before them are forgotten. */
const ACCEPTED_AT_ONCE = 128
/** What has waited for so long is anybody's (machine ms): whoever's share it is has stalled or died. */
const ANYBODYS_AFTER_MS = 2 * SECOND

interface OutboxRelay {
  stop(): Promise<void>
}

/**
 * Turns the events in outboxes into deliveries (docs/architecture.md, idea 5). The deliveryId is derived from the entry, so a rerun after a
 * crash, or a relay in another process, makes no second one; entries go only after their deliveries are on disk. Relays of several
 * processes share the documents, so that none does again what another does.
 */
export function createOutboxRelay({
  runtime,
  accept,
  share = () => undefined,
}: {
  runtime: Pick<Runtime, 'clock' | 'log'>
  share?: Share
  /** Writes deliveries down, once each; resolves when they are on disk. */
  accept: (list: NewDelivery[]) => Promise<void>
}): OutboxRelay {
  const pollers = OUTBOXES.map((model) =>
    startWorkPoller({
      kind: 'outboxes',
      name: `outbox of ${model.modelName}`,
      work: () => relayOwnFirst(model, { accept, now: runtime.clock.now() }, share()),
      runtime,
    }),
  )
  return {
    stop: async () => {
      await Promise.all(pollers.map((poller) => poller.stop()))
    },
  }
}

interface Pass {
  accept: (list: NewDelivery[]) => Promise<void>
  /** Takes what is due by then. */
  now: Date
}

async function relayOwnFirst(model: Model<OutboxDocument>, pass: Pass, own: IdRange | undefined): Promise<number> {
  const relayed = await relayFrom(model, pass, own)
  if (relayed > 0 || !own) return relayed
  return relayFrom(model, { ...pass, now: new Date(pass.now.getTime() - ANYBODYS_AFTER_MS) })
}

async function relayFrom(model: Model<OutboxDocument>, { accept, now }: Pass, ids?: IdRange): Promise<number> {
  // Unsorted: the index answers in its own order, oldest first; to ask for it makes DocumentDB sort the whole backlog.
  const documents = await model
    .find({ outboxAt: dueBy(now), ...(ids && { _id: trusted(ids) }) })
    .limit(DOCUMENTS_AT_ONCE)
    .batchSize(DOCUMENTS_AT_ONCE + 1)
    .select({ outbox: 1 })
    .lean<OutboxDocument[]>()
  let accepted: OutboxDocument[] = []
  for (let from = 0; from < documents.length; from += ACCEPTED_AT_ONCE) {
    const next = documents.slice(from, from + ACCEPTED_AT_ONCE)
    await Promise.all([accept(next.flatMap(deliveriesOf)), forget(model, accepted)])
    accepted = next
  }
  await forget(model, accepted)
  return documents.length
}

const deliveriesOf = ({ outbox }: OutboxDocument): NewDelivery[] =>
  outbox.map(({ id, at: _, ...event }) => ({ deliveryId: deliveryIdOf(id), ...event }))

const idsOf = (documents: OutboxDocument[]) => trusted({ $in: documents.map(({ _id }) => _id) })
const entryIdsOf = (documents: OutboxDocument[]) => documents.flatMap(({ outbox }) => outbox.map(({ id }) => id))

/** Takes out what was relayed, and the due time where nothing is left. An entry that was added meanwhile stays, and stays due. */
async function forget(model: Model<OutboxDocument>, documents: OutboxDocument[]): Promise<void> {
  const single = documents.filter(({ outbox }) => outbox.length === 1)
  const others = documents.filter(({ outbox }) => outbox.length !== 1)
  if (single.length > 0) {
    const present = { outbox: { $size: 1 }, 'outbox.id': { $in: entryIdsOf(single) } }
    // The driver itself: to cast the ids costs more than to send them.
    await model.collection.updateMany({ _id: idsOf(single), ...present } as never, {
      $set: { outbox: [] },
      $unset: { outboxAt: 1 },
    })
  }
  if (others.length === 0) return
  await model.updateMany({ _id: idsOf(others) }, { $pull: { outbox: { id: { $in: entryIdsOf(others) } } } })
  await model.updateMany({ _id: idsOf(others), outbox: trusted({ $size: 0 }) }, { $unset: { outboxAt: 1 } })
}
