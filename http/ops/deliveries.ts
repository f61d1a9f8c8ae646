import { parseUrl } from '../../core/parse-url.ts'
import { Apps } from '../../schemas/app/app.ts'
import { trusted } from '../../schemas/database.ts'
import type { Attempt, Delivery } from '../../schemas/delivery/delivery.ts'
import type { OpsDeliveries } from '../../wire/ops.ts'
import { retryManyInput } from '../../wire/ops-queries.ts'
import { listDeliveries, replayDelivery, replayDropped } from '../actions/deliveries.ts'
import { parseInput } from '../kit/input.ts'
import type { OpsPart } from './handler.ts'
import { isoOrNull } from './iso.ts'

export const deliveryHandlers: OpsPart<'listDeliveries' | 'retryDelivery' | 'retryDeliveries'> = (runtime) => ({
  listDeliveries: async ({ query: { q, ...rest } }) => ({
    deliveries: await viewDeliveries(await listDeliveries({ id: q, ...rest })),
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

export async function viewDeliveries(deliveries: Delivery[]): Promise<OpsDeliveries['deliveries']> {
  const appIds = [...new Set(deliveries.map(({ appId }) => appId))]
  const apps = await Apps.find({ _id: trusted({ $in: appIds }) })
    .select({ webhookUrl: 1 })
    .lean<{ _id: string; webhookUrl?: string }[]>()
  const endpoints = new Map(apps.map(({ _id, webhookUrl }) => [_id, originOf(webhookUrl)]))
  return deliveries.map((delivery) => view(delivery, endpoints.get(delivery.appId) ?? null))
}

/** Whoever knows the rest of a webhook's address may be able to post to it. */
const originOf = (address: string | undefined): string | null =>
  (address === undefined ? undefined : parseUrl(address))?.origin ?? null

const view = (delivery: Delivery, endpoint: string | null): OpsDeliveries['deliveries'][number] => ({
  id: delivery._id,
  deliveryId: delivery._id,
  event: delivery.event,
  appId: delivery.appId,
  endpoint,
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
