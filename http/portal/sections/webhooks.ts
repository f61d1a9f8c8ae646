import { ServiceError } from '../../../core/errors.ts'
import { isUuid } from '../../../core/ids.ts'
import { Deliveries, type Delivery } from '../../../schemas/delivery/delivery.ts'
import { changedAppBody } from '../../../wire/ops-apps.ts'
import { changeApp } from '../../actions/apps.ts'
import { tryEndpoint } from '../../actions/try-endpoint.ts'
import { goneSignal } from '../../kit/abort-signal.ts'
import { formField } from '../../pages/kit/form.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import { problemOf } from '../kit/input.ts'
import { sectionPath, sendAppPage } from '../kit/layout.ts'
import { buttonForm, card, field, form, moment } from '../kit/parts.ts'
import type { PortalHandlers } from '../kit/portal-router.ts'
import { goTo } from '../kit/redirect.ts'
import type { AppExchange } from '../kit/visit.ts'
import { deliveriesCard } from './delivery-list.ts'
import { rotationOf } from './rotation.ts'

type WebhookHandlers = Pick<
  PortalHandlers,
  | 'GET /apps/:appId/webhooks'
  | 'POST /apps/:appId/webhooks/endpoint'
  | 'POST /apps/:appId/webhooks/test'
  | 'GET /apps/:appId/webhooks/rotate'
  | 'POST /apps/:appId/webhooks/rotate'
  | 'POST /apps/:appId/webhooks/end-overlap'
>

const rotation = rotationOf('webhook')
const pathOf = ({ app }: AppExchange): string => sectionPath(app._id, 'webhooks')

/** The endpoint of an app, its signing secret, and what was sent to it. */
export const webhookHandlers: WebhookHandlers = {
  'GET /apps/:appId/webhooks': async (exchange) => {
    const tested = await testedDelivery(exchange)
    await showWebhooks(exchange, tested ? { tested } : {})
  },
  'POST /apps/:appId/webhooks/endpoint': saveEndpoint,
  'POST /apps/:appId/webhooks/test': async (exchange) => {
    if (!exchange.app.webhookUrl)
      return showWebhooks(exchange, {
        refused: { alert: 'There is no endpoint yet. Enter its URL and save it first.', url: '' },
      })
    const delivery = await tryOut(exchange)
    if (delivery) return goTo(exchange, `${pathOf(exchange)}?test=${delivery._id}`)
    await goTo(exchange, pathOf(exchange), {
      kind: 'alert',
      text: 'The test event could not be sent yet. Try again in a moment.',
    })
  },
  'GET /apps/:appId/webhooks/rotate': rotation.ask,
  'POST /apps/:appId/webhooks/rotate': rotation.rotate,
  'POST /apps/:appId/webhooks/end-overlap': rotation.endOld,
}

/** Sends a test event; null where the app has no endpoint any more, or nothing became of the event in the time that a page takes. */
const tryOut = ({ app, by, runtime, response }: AppExchange): Promise<Delivery | null> =>
  tryEndpoint({ appId: app._id, by, runtime, signal: goneSignal(response) })

/** The test event that the address names, of this app. */
async function testedDelivery({ app, request }: AppExchange): Promise<Delivery | null> {
  const { test: id } = request.query
  if (typeof id !== 'string' || !isUuid(id)) return null
  return Deliveries.findOne({ _id: id, appId: app._id, event: 'test.event' }).lean<Delivery>()
}

async function showWebhooks(
  exchange: AppExchange,
  { refused, tested }: { refused?: { alert: string; url: string }; tested?: Delivery },
): Promise<void> {
  sendAppPage(exchange, {
    ...(refused && { status: 400, alert: refused.alert }),
    section: 'webhooks',
    title: 'Webhooks',
    lead: 'Every event is posted to one endpoint of yours, signed, and sent again up to six times until it answers 2xx.',
    body: [
      endpointCard(exchange, refused),
      ...(tested ? [testCard(tested)] : []),
      rotation.secretCard(exchange),
      await deliveriesCard(exchange),
    ],
  })
}

function endpointCard(exchange: AppExchange, refused: { url: string } | undefined): Markup {
  const { app } = exchange
  const path = pathOf(exchange)
  return card(
    {
      title: 'Endpoint',
      text: app.webhookUrl
        ? 'Saving sends a test event and shows what came back.'
        : 'Without an endpoint every event is discarded. Enter an https URL of your backend to get them.',
      aside: app.webhookUrl ? buttonForm(exchange, { action: `${path}/test`, label: 'Send test event' }) : undefined,
    },
    form(exchange, { action: `${path}/endpoint`, className: 'row' }, [
      field({
        label: 'Endpoint URL',
        name: 'webhookUrl',
        type: 'url',
        value: refused?.url ?? app.webhookUrl,
        invalid: refused !== undefined,
        placeholder: 'https://api.example.com/webhooks',
      }),
      html`<button class="button primary">Save endpoint</button>`,
    ]),
  )
}

function testCard({ attempts: [attempt], createdAt }: Delivery): Markup {
  const took = attempt?.durationMs
  const good = attempt?.error === undefined
  return card({ title: 'Test event', id: 'test' }, [
    took === undefined
      ? html`<p role="status" class="notice">No answer yet. Reload the page in a moment.</p>`
      : html`<p role="${good ? 'status' : 'alert'}" class="notice ${good ? 'good' : 'bad'}">${
          good ? `Your endpoint answered ${attempt?.status}.` : `${attempt?.error}.`
        }</p>`,
    html`<dl class="facts"><div><dt>Status</dt><dd>${attempt?.status ?? 'None'}</dd></div><div><dt>Time</dt><dd>${
      took === undefined ? '–' : `${took} ms`
    }</dd></div><div><dt>Sent</dt><dd>${moment(createdAt)}</dd></div></dl>`,
    attempt?.answer !== undefined && html`<div><h3>Answer</h3><pre tabindex="0">${attempt.answer}</pre></div>`,
  ])
}

/** Saves the endpoint, or takes it away where the field is empty, and tries it out: one that does not answer is saved with a warning. */
async function saveEndpoint(exchange: AppExchange): Promise<void> {
  const { request, app, by, runtime } = exchange
  const url = formField(request, 'webhookUrl')?.trim() ?? ''
  const refuse = (alert: string) => showWebhooks(exchange, { refused: { alert, url } })
  const parsed = changedAppBody.safeParse({ webhookUrl: url === '' ? null : url })
  if (!parsed.success) return refuse(problemOf('Endpoint URL', parsed.error))
  try {
    await changeApp({ appId: app._id, body: parsed.data, by, runtime })
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'invalid_parameter') throw error
    return refuse(`${error.values['reason'] ?? 'The URL cannot be used'}.`)
  }
  const path = pathOf(exchange)
  if (url === '')
    return goTo(exchange, path, {
      kind: 'status',
      text: 'The endpoint is taken away. Events are discarded from now on.',
    })
  const attempt = (await tryOut(exchange))?.attempts[0]
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
