import { ServiceError } from '../../../core/errors.ts'
import { isUuid } from '../../../core/ids.ts'
import { Deliveries, type Delivery } from '../../../schemas/delivery/delivery.ts'
import { changedAppBody } from '../../../wire/ops-apps.ts'
import { DEFAULT_OVERLAP_S } from '../../../wire/ops-keys.ts'
import { endOverlap, rotateAppSecret } from '../../actions/app-secrets.ts'
import { changeApp } from '../../actions/apps.ts'
import { replayDelivery, replayDropped } from '../../actions/deliveries.ts'
import { tryEndpoint } from '../../actions/try-endpoint.ts'
import { goneSignal } from '../../kit/abort-signal.ts'
import { formField } from '../../pages/kit/form.ts'
import { problemOf } from '../kit/input.ts'
import type { PortalHandlers } from '../kit/portal-router.ts'
import { goTo } from '../kit/redirect.ts'
import type { AppExchange } from '../kit/visit.ts'
import { REPLAY_SPANS } from './replay-spans.ts'
import { deliveriesPath, showDelivery, showRotation, showWebhooks, webhooksPath } from './webhooks-view.ts'

type WebhookHandlers = Pick<
  PortalHandlers,
  | 'GET /apps/:appId/webhooks'
  | 'POST /apps/:appId/webhooks/endpoint'
  | 'POST /apps/:appId/webhooks/test'
  | 'POST /apps/:appId/webhooks/replay'
  | 'GET /apps/:appId/webhooks/rotate'
  | 'POST /apps/:appId/webhooks/rotate'
  | 'POST /apps/:appId/webhooks/end-overlap'
  | 'GET /apps/:appId/webhooks/deliveries/:deliveryId'
  | 'POST /apps/:appId/webhooks/deliveries/:deliveryId/replay'
>

export const webhookHandlers: WebhookHandlers = {
  'GET /apps/:appId/webhooks': async (exchange) => {
    const test = exchange.request.query['test']
    const id = typeof test === 'string' && isUuid(test) ? test : undefined
    const tested =
      id === undefined ? null : await Deliveries.findOne({ _id: id, appId: exchange.app._id }).lean<Delivery>()
    await showWebhooks(exchange, tested ? { tested } : {})
  },
  'POST /apps/:appId/webhooks/endpoint': saveEndpoint,
  'POST /apps/:appId/webhooks/test': async (exchange) => {
    const { app, by, runtime, response } = exchange
    if (!app.webhookUrl)
      return showWebhooks(exchange, {
        status: 400,
        alert: 'There is no endpoint yet. Enter its URL and save it first.',
      })
    const delivery = await tryEndpoint({ appId: app._id, by, runtime, signal: goneSignal(response) })
    if (delivery) return goTo(exchange, `${webhooksPath(exchange)}?test=${delivery._id}`)
    await goTo(exchange, webhooksPath(exchange), {
      kind: 'alert',
      text: 'The test event could not be sent yet. Try again in a moment.',
    })
  },
  'POST /apps/:appId/webhooks/replay': replayFailed,
  'GET /apps/:appId/webhooks/rotate': (exchange) => showRotation(exchange),
  'POST /apps/:appId/webhooks/rotate': async (exchange) => {
    const { app, by, runtime } = exchange
    const value = await rotateAppSecret({
      appId: app._id,
      secret: 'webhook',
      overlapSeconds: DEFAULT_OVERLAP_S,
      by,
      runtime,
    })
    await goTo(exchange, webhooksPath(exchange), {
      kind: 'status',
      text: 'The signing secret is new. For 24 hours every event carries a signature of the old one too.',
      secret: { name: 'webhookSecret', value },
    })
  },
  'POST /apps/:appId/webhooks/end-overlap': async (exchange) => {
    const { app, by, runtime } = exchange
    await endOverlap({ appId: app._id, secret: 'webhook', by, runtime })
    await goTo(exchange, webhooksPath(exchange), {
      kind: 'status',
      text: 'Events are signed with the new secret alone.',
    })
  },
  'GET /apps/:appId/webhooks/deliveries/:deliveryId': async (exchange) =>
    showDelivery(exchange, await deliveryOf(exchange)),
  'POST /apps/:appId/webhooks/deliveries/:deliveryId/replay': async (exchange) => {
    const { app, by, runtime } = exchange
    const { _id: id } = await deliveryOf(exchange)
    const result = await replayDelivery({ id, appId: app._id, by, runtime })
    const text = result === 'reopened' ? 'The delivery is sent again now.' : 'An attempt is under way already.'
    await goTo(exchange, `${deliveriesPath(exchange)}/${id}`, { kind: 'status', text })
  },
}

async function deliveryOf({ app, request }: AppExchange): Promise<Delivery> {
  const id = String(request.params['deliveryId'])
  const delivery = isUuid(id) ? await Deliveries.findOne({ _id: id, appId: app._id }).lean<Delivery>() : null
  if (!delivery) throw new ServiceError('not_found')
  return delivery
}

/** Saves the endpoint, or takes it away where the field is empty, and tries it out: one that does not answer is saved with a warning. */
async function saveEndpoint(exchange: AppExchange): Promise<void> {
  const { request, response, app, by, runtime } = exchange
  const value = formField(request, 'webhookUrl')?.trim() ?? ''
  const refuse = (alert: string) => showWebhooks(exchange, { status: 400, alert, url: value })
  const parsed = changedAppBody.safeParse({ webhookUrl: value === '' ? null : value })
  if (!parsed.success) return refuse(problemOf('Endpoint URL', parsed.error))
  try {
    await changeApp({ appId: app._id, body: parsed.data, by, runtime })
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'invalid_parameter') throw error
    return refuse(`${error.values['reason'] ?? 'The URL cannot be used'}.`)
  }
  const path = webhooksPath(exchange)
  if (value === '')
    return goTo(exchange, path, {
      kind: 'status',
      text: 'The endpoint is taken away. Events are discarded from now on.',
    })
  const attempt = (await tryEndpoint({ appId: app._id, by, runtime, signal: goneSignal(response) }))?.attempts[0]
  const good = attempt?.durationMs !== undefined && attempt.error === undefined
  await goTo(
    exchange,
    path,
    good
      ? {
          kind: 'status',
          text: `The endpoint is saved. It answered a test event with ${attempt.status} in ${attempt.durationMs} ms.`,
        }
      : {
          kind: 'alert',
          text: `The endpoint is saved, but it did not take a test event: ${attempt?.error ?? 'no answer yet'}.`,
        },
  )
}

async function replayFailed(exchange: AppExchange): Promise<void> {
  const { request, app, by, runtime } = exchange
  const span = REPLAY_SPANS.find(({ value }) => value === formField(request, 'hours'))
  if (!span) throw new ServiceError('invalid_parameter', { name: 'hours', reason: 'is unknown' })
  const since = new Date(runtime.clock.now().getTime() - span.ms)
  const reopened = await replayDropped({ appId: app._id, since, by, runtime })
  const text =
    reopened === 0 ? 'No delivery failed for good in that time.' : `${reopened} failed deliveries are sent again now.`
  await goTo(exchange, webhooksPath(exchange), { kind: 'status', text })
}
