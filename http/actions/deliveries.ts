import { ServiceError } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { trusted } from '../../schemas/database.ts'
import { reopenDelivery, reopenDropped } from '../../schemas/delivery/deliveries.ts'
import { Deliveries, type Delivery } from '../../schemas/delivery/delivery.ts'
import { DeliveryLanes, waitingOf } from '../../schemas/delivery/delivery-lane.ts'
import { audited } from '../../schemas/operations/audit.ts'
import type { Act } from './act.ts'
import { newestOf } from './newest.ts'

/** The newest deliveries, of one app or of all; `id` is one delivery's. Of those that wait, the next ones. */
export const listDeliveries = ({
  appId,
  id,
  state,
  limit,
}: {
  appId?: string | undefined
  id?: string | undefined
  state?: Delivery['state'] | undefined
  limit: number
}): Promise<Delivery[]> => {
  if (id === undefined && state === 'waiting') return listWaiting({ appId, limit })
  if (id === undefined && state === 'dropped') return listDropped({ appId, limit })
  const filter = { ...(id !== undefined && { _id: id }), ...(state !== undefined && { state }) }
  return newestOf(Deliveries, { appId, filter, limit })
}

/** Those that waited longest go first: what has ended is not walked to find what has not. */
async function listWaiting({ appId, limit }: { appId?: string | undefined; limit: number }): Promise<Delivery[]> {
  const lanes =
    appId === undefined ? (await DeliveryLanes.find().select({ _id: 1 }).lean()).map(({ _id }) => _id) : [appId]
  const lists = await Promise.all(
    lanes.map((id) => Deliveries.find(waitingOf(id)).sort({ claimableAt: 1 }).limit(limit).lean<Delivery[]>()),
  )
  const due = ({ claimableAt }: Delivery): number => claimableAt?.getTime() ?? 0
  return lists
    .flat()
    .sort((a, b) => due(a) - due(b))
    .slice(0, limit)
}

const listDropped = ({ appId, limit }: { appId?: string | undefined; limit: number }): Promise<Delivery[]> =>
  Deliveries.find({ state: 'dropped', ...(appId !== undefined && { appId }) })
    .sort({ endedAt: -1 })
    .limit(limit)
    .lean<Delivery[]>()

/**
 * Replays a delivery under the same deliveryId, a dropped one too. Give `appId` where the one who asks belongs to an app. Throws
 * `not_found`.
 */
export async function replayDelivery({
  id,
  appId,
  by,
  runtime: { clock },
}: Act & { id: string; appId?: string }): Promise<'reopened' | 'under way'> {
  const now = clock.now()
  const of = appId === undefined ? {} : { appId }
  return audited(
    { at: now, by, action: 'delivery.retried', ...of, target: id },
    async () => {
      const result = isUuid(id) ? await reopenDelivery({ id, ...of, now }) : 'unknown'
      if (result === 'unknown') throw new ServiceError('not_found')
      return result
    },
    (result) => ({ details: { result } }),
  )
}

/** Replays every delivery that was dropped since a moment, of one app or of all; returns how many. */
export async function replayDropped({
  since,
  appId,
  by,
  runtime: { clock },
}: Act & { since: Date; appId?: string | undefined }): Promise<number> {
  const now = clock.now()
  const dropped = { state: 'dropped', endedAt: trusted({ $gte: since }) } as const
  const appIds = appId === undefined ? await Deliveries.distinct('appId', dropped) : [appId]
  const details = { since: since.toISOString() }
  return audited(
    { at: now, by, action: 'deliveries.retried', ...(appId !== undefined && { appId }), details },
    async () => {
      let reopened = 0
      for (const each of appIds) reopened += await reopenDropped({ appId: each, since, now })
      return reopened
    },
    (reopened) => ({ details: { ...details, reopened } }),
  )
}
