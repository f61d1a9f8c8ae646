import type { Request, RequestHandler, Response } from 'express'
import { z } from 'zod'
import type { Clock } from '../../core/clock.ts'
import { ServiceError } from '../../core/errors.ts'
import { isUuid } from '../../core/ids.ts'
import { trusted } from '../../schemas/database.ts'
import { reopenDelivery, reopenDropped } from '../../schemas/delivery/deliveries.ts'
import { type Attempt, Deliveries, type Delivery } from '../../schemas/delivery/delivery.ts'
import { recordAudit } from '../../schemas/operations/audit.ts'
import type { OpsDeliveries } from '../../wire/ops.ts'
import { LONGEST_ID, moment, text } from '../../wire/text.ts'
import { OPERATOR } from '../access/operator.ts'
import { parseInput } from '../kit/input.ts'
import { newestOf } from './newest.ts'
import { isoOrNull, listingQuery } from './query.ts'

const sinceQuery = z.object({ since: moment, appId: text(LONGEST_ID).optional() })
const states = z.enum(['waiting', 'delivered', 'dropped'], 'must be waiting, delivered or dropped')
const query = listingQuery.extend({ state: states.optional() })

/** GET /ops/deliveries: the newest; `state` and `appId` narrow it, `q` is one delivery's id. */
export const listDeliveries: RequestHandler = async (request, response) => {
  const { limit, appId, q, state } = parseInput(query, request.query)
  const filter = { ...(q !== undefined && { _id: q }), ...(state !== undefined && { state }) }
  const deliveries = await newestOf(Deliveries, { appId, filter, limit })
  const answer: OpsDeliveries = { deliveries: deliveries.map(view) }
  response.json(answer)
}

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

/** POST /ops/deliveries/:id/retry: under the same deliveryId, a dropped one too. */
export const postRetry =
  ({ clock }: { clock: Clock }) =>
  async (request: Request, response: Response): Promise<void> => {
    const id = String(request.params['id'])
    const now = clock.now()
    const result = isUuid(id) ? await reopenDelivery({ id, now }) : 'unknown'
    if (result === 'unknown') throw new ServiceError('not_found')
    await recordAudit({ at: now, by: OPERATOR, action: 'delivery.retried', target: id, details: { result } })
    response.json({ ok: true, deliveryId: id, result })
  }

/** POST /ops/deliveries/retry?since=: every delivery that was dropped since then, of one app or of all. */
export const postRetrySince =
  ({ clock }: { clock: Clock }) =>
  async (request: Request, response: Response): Promise<void> => {
    const body: Record<string, unknown> = request.body
    const { since, appId } = parseInput(sinceQuery, { ...body, ...request.query })
    const now = clock.now()
    const dropped = { state: 'dropped', endedAt: trusted({ $gte: since }) } as const
    const appIds = appId === undefined ? await Deliveries.distinct('appId', dropped) : [appId]
    let reopened = 0
    for (const each of appIds) reopened += await reopenDropped({ appId: each, since, now })
    await recordAudit({
      at: now,
      by: OPERATOR,
      action: 'deliveries.retried',
      ...(appId !== undefined && { appId }),
      details: { since: since.toISOString(), reopened },
    })
    response.json({ ok: true, reopened })
  }
