import { ServiceError } from '../../../core/errors.ts'
import { isUuid } from '../../../core/ids.ts'
import { Deliveries, type Delivery } from '../../../schemas/delivery/delivery.ts'
import { replayDelivery, replayDropped } from '../../actions/deliveries.ts'
import { formField } from '../../pages/kit/form.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import { sectionPath, sendAppPage } from '../kit/layout.ts'
import { buttonForm, card, counted, emptyState, moment, pill } from '../kit/parts.ts'
import type { PortalHandlers } from '../kit/portal-router.ts'
import { goTo } from '../kit/redirect.ts'
import { table } from '../kit/table.ts'
import type { AppExchange } from '../kit/visit.ts'
import { statePill } from './delivery-state.ts'
import { REPLAY_SPANS } from './replay-spans.ts'

type DeliveryHandlers = Pick<
  PortalHandlers,
  | 'POST /apps/:appId/webhooks/replay'
  | 'GET /apps/:appId/webhooks/deliveries/:deliveryId'
  | 'POST /apps/:appId/webhooks/deliveries/:deliveryId/replay'
>

/** One delivery with its attempts, and sending again what failed. */
export const deliveryHandlers: DeliveryHandlers = {
  'POST /apps/:appId/webhooks/replay': replayFailed,
  'GET /apps/:appId/webhooks/deliveries/:deliveryId': async (exchange) =>
    showDelivery(exchange, await deliveryOf(exchange)),
  'POST /apps/:appId/webhooks/deliveries/:deliveryId/replay': async (exchange) => {
    const { app, by, runtime } = exchange
    const { _id: id } = await deliveryOf(exchange)
    const result = await replayDelivery({ id, appId: app._id, by, runtime })
    const text = result === 'reopened' ? 'The delivery is sent again now.' : 'An attempt is under way already.'
    await goTo(exchange, `${webhooksPath(exchange)}/deliveries/${id}`, { kind: 'status', text })
  },
}

const webhooksPath = ({ app }: AppExchange): string => sectionPath(app._id, 'webhooks')

async function deliveryOf({ app, request }: AppExchange): Promise<Delivery> {
  const id = String(request.params['deliveryId'])
  const delivery = isUuid(id) ? await Deliveries.findOne({ _id: id, appId: app._id }).lean<Delivery>() : null
  if (!delivery) throw new ServiceError('not_found')
  return delivery
}

async function replayFailed(exchange: AppExchange): Promise<void> {
  const { request, app, by, runtime } = exchange
  const span = REPLAY_SPANS.find(({ value }) => value === formField(request, 'hours'))
  if (!span) throw new ServiceError('invalid_parameter', { name: 'hours', reason: 'is unknown' })
  const since = new Date(runtime.clock.now().getTime() - span.ms)
  const reopened = await replayDropped({ appId: app._id, since, by, runtime })
  const text =
    reopened === 0
      ? 'Nothing to send again: no delivery was given up in that time.'
      : `${counted(reopened, 'failed delivery', 'failed deliveries')} ${reopened === 1 ? 'is' : 'are'} sent again now.`
  await goTo(exchange, webhooksPath(exchange), { kind: 'status', text })
}

function showDelivery(exchange: AppExchange, delivery: Delivery): void {
  const { attempts, body, event, _id } = delivery
  const path = webhooksPath(exchange)
  sendAppPage(exchange, {
    section: 'webhooks',
    title: event,
    lead: html`<a class="back" href="${path}">Back to webhooks</a>`,
    actions: buttonForm(exchange, { action: `${path}/deliveries/${_id}/replay`, label: 'Replay', kind: 'primary' }),
    body: [
      card({ title: 'Delivery' }, facts(delivery)),
      card(
        { title: 'Attempts' },
        attempts.length === 0
          ? emptyState({ title: 'Not sent yet', text: 'The first attempt begins within seconds.' })
          : attemptTable(attempts),
      ),
      card({ title: 'Body', text: 'The exact bytes of every attempt.' }, html`<pre tabindex="0">${body}</pre>`),
    ],
  })
}

function facts(delivery: Delivery): Markup {
  const { state, claimableAt, claimedBy, endedAt, createdAt, _id } = delivery
  const isWaiting = state === 'waiting'
  const next = claimableAt && claimedBy === undefined ? moment(claimableAt) : 'Now'
  return html`<dl class="facts">
<div><dt>State</dt><dd>${statePill(delivery)}</dd></div>
<div><dt>Delivery id</dt><dd class="mono">${_id}</dd></div>
<div><dt>Created</dt><dd>${moment(createdAt)}</dd></div>
<div><dt>${isWaiting ? 'Next attempt' : 'Ended'}</dt><dd>${isWaiting ? next : endedAt && moment(endedAt)}</dd></div>
</dl>`
}

type Attempt = Delivery['attempts'][number]

const attemptTable = (attempts: Attempt[]): Markup =>
  table({
    caption: 'Attempts',
    columns: [
      { label: 'Attempt' },
      { label: 'At' },
      { label: 'Status' },
      { label: 'Time', numeric: true },
      { label: 'Answer' },
    ],
    rows: attempts
      .toReversed()
      .map((each) => [
        `#${each.number}`,
        moment(each.at),
        attemptPill(each),
        each.durationMs !== undefined && `${each.durationMs} ms`,
        html`${each.error !== undefined && html`<p>${each.error}</p>`}${each.answer !== undefined && html`<pre tabindex="0">${each.answer}</pre>`}`,
      ]),
  })

function attemptPill({ error, status, durationMs }: Attempt): Markup {
  if (durationMs === undefined) return pill('Under way')
  return pill(status === undefined ? 'None' : String(status), error === undefined ? 'good' : 'bad')
}
