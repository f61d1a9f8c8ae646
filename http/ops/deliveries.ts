import type { Attempt, Delivery } from '../../schemas/delivery/delivery.ts'
import type { OpsDeliveries } from '../../wire/ops.ts'
import { retryManyInput } from '../../wire/ops-queries.ts'
import { listDeliveries, replayDelivery, replayDropped } from '../actions/deliveries.ts'
import { parseInput } from '../kit/input.ts'
import type { OpsPart } from './handler.ts'
import { isoOrNull } from './iso.ts'

export const deliveryHandlers: OpsPart<'listDeliveries' | 'retryDelivery' | 'retryDeliveries'> = (runtime) => ({
  listDeliveries: async ({ query: { q, ...rest } }) => ({
    deliveries: (await listDeliveries({ id: q, ...rest })).map(view),
  }),
  retryDelivery: async ({ params, by }) => ({
    ok: true,
    deliveryId: params.id,
    result: await replayDelivery({ ...params, by, runtime }),
  }),
  retryDeliveries: async ({ request, by }) => {
    const given = parseInput(retryManyInput, { ...request.body, ...request.query })
    return { ok: true, reopened: await replayDropped({ ...given, by, runtime }) }
  },
})

const view = (delivery: Delivery): OpsDeliveries['deliveries'][number] => ({
  id: delivery._id,
  deliveryId: delivery._id,
  event: delivery.event,
  appId: delivery.appId,
  state: delivery.state,
  attempts: delivery.attempts.map(viewAttempt),
  nextAttemptAt: delivery.claimedBy === undefined ? isoOrNull(delivery.claimableAt) : null,
  createdAt: delivery.createdAt.toISOString(),
  endedAt: isoOrNull(delivery.endedAt),
  body: delivery.body,
})

const viewAttempt = ({ number, at, status, durationMs, error, answer }: Attempt) => ({
  number,
  at: at.toISOString(),
  status: status ?? null,
  durationMs: durationMs ?? null,
  error: error ?? null,
  answer: answer ?? null,
})
