import { DAY } from '../../../core/clock.ts'
import type { App, AppSecret } from '../../../schemas/app/app.ts'
import { trusted } from '../../../schemas/database.ts'
import { Deliveries, type Delivery } from '../../../schemas/delivery/delivery.ts'
import { EVENT_NAMES } from '../../../wire/events.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import { sectionPath, sendAppPage } from '../kit/layout.ts'
import { buttonForm, card, emptyState, field, form, moment, pill, select, table } from '../kit/parts.ts'
import type { AppExchange } from '../kit/visit.ts'
import { REPLAY_SPANS } from './replay-spans.ts'

/** Deliveries are listed for so long; each is kept for 30 days after its end. */
const LISTED_MS = 7 * DAY
const PAGE = 25
const STATES = ['waiting', 'delivered', 'dropped'] as const

export const webhooksPath = ({ app }: AppExchange): string => sectionPath(app._id, 'webhooks')
export const deliveriesPath = (exchange: AppExchange): string => `${webhooksPath(exchange)}/deliveries`

const STATE_WORDS = { waiting: 'Waiting', delivered: 'Delivered', dropped: 'Failed' } as const

function stateOf({ state, attempts }: Delivery): Markup {
  if (state === 'delivered') return pill(STATE_WORDS.delivered, 'good')
  if (state === 'dropped') return pill(STATE_WORDS.dropped, 'bad')
  return attempts.some(({ error }) => error !== undefined) ? pill('Retrying', 'warn') : pill(STATE_WORDS.waiting)
}

/** The page of the endpoint, its secret and its deliveries. */
export async function showWebhooks(
  exchange: AppExchange,
  { status = 200, alert, url, tested }: { status?: number; alert?: string; url?: string; tested?: Delivery },
): Promise<void> {
  const { app } = exchange
  sendAppPage(exchange, {
    status,
    alert,
    section: 'webhooks',
    title: 'Webhooks',
    lead: 'Every event is posted to one endpoint of yours, signed, and sent again up to six times until it answers 2xx.',
    body: [
      endpointCard(exchange, url ?? app.webhookUrl ?? ''),
      ...(tested ? [testCard(tested)] : []),
      secretCard(exchange),
      await deliveriesCard(exchange),
    ],
  })
}

function endpointCard(exchange: AppExchange, url: string): Markup {
  const { app } = exchange
  return card(
    {
      title: 'Endpoint',
      text: app.webhookUrl
        ? 'Saving sends a test event and shows what came back.'
        : 'Without an endpoint every event is discarded. Enter an https URL of your backend to get them.',
      aside: app.webhookUrl
        ? buttonForm(exchange, { action: `${webhooksPath(exchange)}/test`, label: 'Send test event' })
        : undefined,
    },
    form(exchange, { action: `${webhooksPath(exchange)}/endpoint`, className: 'row' }, [
      field({
        label: 'Endpoint URL',
        name: 'webhookUrl',
        type: 'url',
        value: url,
        placeholder: 'https://api.example.com/webhooks',
      }),
      html`<button class="button primary">Save endpoint</button>`,
    ]),
  )
}

function testCard(delivery: Delivery): Markup {
  const attempt = delivery.attempts[0]
  const good = attempt?.error === undefined
  return card({ title: 'Test event', id: 'test' }, [
    attempt?.durationMs === undefined
      ? html`<p role="status" class="notice">No answer yet. Reload the page in a moment.</p>`
      : html`<p role="${good ? 'status' : 'alert'}" class="notice ${good ? 'good' : 'bad'}">${
          good ? `Your endpoint answered ${attempt.status}.` : `${attempt.error}.`
        }</p>`,
    html`<dl class="facts"><div><dt>Status</dt><dd>${attempt?.status ?? 'none'}</dd></div><div><dt>Time</dt><dd>${attempt?.durationMs ?? '–'} ms</dd></div><div><dt>Sent</dt><dd>${moment(delivery.createdAt)}</dd></div></dl>`,
    attempt?.answer !== undefined && html`<div><h3>Answer</h3><pre>${attempt.answer}</pre></div>`,
  ])
}

/** Older secrets of a list that are still valid. */
export const overlapping = (list: AppSecret[], now: Date): AppSecret[] =>
  list.slice(1).filter(({ expiresAt }) => expiresAt && expiresAt > now)

/** What is said of a secret and its overlap, with the ways to change it for owners. */
function secretCard(exchange: AppExchange): Markup {
  const { app, role, runtime } = exchange
  const [current] = app.webhookSecrets
  const old = overlapping(app.webhookSecrets, runtime.clock.now())[0]
  const owner = role === 'owner'
  return card(
    {
      title: 'Signing secret',
      text: 'Verify the signature of every event with it, so that you know it comes from here.',
      aside: owner
        ? html`<div class="actions">${old && buttonForm(exchange, { action: `${webhooksPath(exchange)}/end-overlap`, label: 'End the old one now' })}${buttonForm(
            exchange,
            { action: `${webhooksPath(exchange)}/rotate`, method: 'get', label: 'Rotate signing secret' },
          )}</div>`
        : undefined,
    },
    html`<p>${current ? html`The present one was made ${moment(current.createdAt)}.` : 'There is none: events carry no signature.'} ${
      old?.expiresAt && html`The old one is valid until ${moment(old.expiresAt)}.`
    } ${!owner && html`<span class="soft">Owners can rotate it.</span>`}</p>`,
  )
}

export function showRotation(exchange: AppExchange): void {
  const path = webhooksPath(exchange)
  sendAppPage(exchange, {
    section: 'webhooks',
    title: 'Rotate the signing secret?',
    body: card({ title: 'A new secret is made and shown once' }, [
      html`<p>For 24 hours every event carries two signatures, one of the old secret and one of the new. Put the new one into your backend in that time; nothing is lost meanwhile.</p>`,
      html`<div class="actions">${form(exchange, { action: `${path}/rotate` }, html`<button class="button primary">Rotate</button>`)}<a class="button plain" href="${path}">Cancel</a></div>`,
    ]),
  })
}

interface Query {
  state?: (typeof STATES)[number]
  event?: string
  before?: Date
}

function readQuery({ request }: AppExchange): Query {
  const { state, event, before } = request.query
  const known = STATES.find((each) => each === state)
  const at = typeof before === 'string' ? new Date(before) : undefined
  return {
    ...(known && { state: known }),
    ...(typeof event === 'string' && EVENT_NAMES.some((each) => each === event) && { event }),
    ...(at && !Number.isNaN(at.getTime()) && { before: at }),
  }
}

async function deliveriesCard(exchange: AppExchange): Promise<Markup> {
  const { app, runtime } = exchange
  const { state, event, before } = readQuery(exchange)
  const since = new Date(runtime.clock.now().getTime() - LISTED_MS)
  const found = await Deliveries.find({
    appId: app._id,
    createdAt: trusted({ $gte: since, ...(before && { $lt: before }) }),
    ...(state && { state }),
    ...(event !== undefined && { event: event as Delivery['event'] }),
  })
    .sort({ createdAt: -1 })
    .limit(PAGE + 1)
    .lean<Delivery[]>()
  const shown = found.slice(0, PAGE)
  const filtered = state !== undefined || event !== undefined || before !== undefined
  if (shown.length === 0 && !filtered) return card({ title: 'Recent deliveries' }, noDeliveries(app))
  return card({ title: 'Recent deliveries', text: 'Of the last 7 days.', aside: replayForm(exchange) }, [
    filterForm(exchange, { ...(state && { state }), ...(event !== undefined && { event }) }),
    shown.length === 0
      ? emptyState({ title: 'Nothing matches', text: 'Choose another state or event, or look at all of them.' })
      : deliveryTable(exchange, shown),
    found.length > PAGE && olderLink(exchange, shown.at(-1)),
  ])
}

const noDeliveries = (app: App): Markup =>
  emptyState(
    app.webhookUrl
      ? {
          title: 'No events yet',
          text: 'Events stand here as soon as a user opens a connect link of yours. Send a test event to try your endpoint out.',
        }
      : {
          title: 'No events yet',
          text: 'Set an endpoint above: without one events are discarded and nothing is listed here.',
        },
  )

const replayForm = (exchange: AppExchange): Markup =>
  form(exchange, { action: `${webhooksPath(exchange)}/replay`, className: 'row' }, [
    select({ label: 'Failed since', name: 'hours', options: REPLAY_SPANS, hideLabel: true, value: '24' }),
    html`<button class="button plain">Replay failed</button>`,
  ])

const filterForm = (exchange: AppExchange, { state, event }: Query): Markup =>
  form(exchange, { action: webhooksPath(exchange), method: 'get', className: 'row' }, [
    select({
      label: 'State',
      name: 'state',
      value: state,
      options: [{ value: '', label: 'All' }, ...STATES.map((each) => ({ value: each, label: STATE_WORDS[each] }))],
    }),
    select({
      label: 'Event',
      name: 'event',
      value: event,
      options: [{ value: '', label: 'All' }, ...EVENT_NAMES.map((each) => ({ value: each, label: each }))],
    }),
    html`<button class="button plain">Filter</button>`,
  ])

function olderLink(exchange: AppExchange, last: Delivery | undefined): Markup | false {
  if (!last) return false
  const { state, event } = readQuery(exchange)
  const query = new URLSearchParams({
    ...(state && { state }),
    ...(event !== undefined && { event }),
    before: last.createdAt.toISOString(),
  })
  return html`<p class="pages"><a href="${webhooksPath(exchange)}?${query.toString()}">Older deliveries</a></p>`
}

const deliveryTable = (exchange: AppExchange, deliveries: Delivery[]): Markup =>
  table({
    caption: 'Recent deliveries',
    stacked: true,
    columns: [
      { label: 'Event' },
      { label: 'State' },
      { label: 'Attempts', numeric: true, wide: true },
      { label: 'Last answer', wide: true },
      { label: 'Created' },
    ],
    rows: deliveries.map((each) => [
      html`<a href="${deliveriesPath(exchange)}/${each._id}">${each.event}</a>`,
      stateOf(each),
      each.attempts.length,
      lastAnswer(each),
      moment(each.createdAt),
    ]),
  })

function lastAnswer({ attempts }: Delivery): string {
  const last = attempts.at(-1)
  if (!last) return 'Not sent yet'
  if (last.durationMs === undefined) return 'Under way'
  return last.error ?? String(last.status)
}

/** One delivery with every attempt. */
export function showDelivery(exchange: AppExchange, delivery: Delivery): void {
  const { attempts, claimableAt, claimedBy, state } = delivery
  sendAppPage(exchange, {
    section: 'webhooks',
    title: delivery.event,
    lead: html`<a class="back" href="${webhooksPath(exchange)}">Back to webhooks</a>`,
    actions: buttonForm(exchange, {
      action: `${deliveriesPath(exchange)}/${delivery._id}/replay`,
      label: 'Replay',
      kind: 'primary',
    }),
    body: [
      card(
        { title: 'Delivery' },
        html`<dl class="facts">
<div><dt>State</dt><dd>${stateOf(delivery)}</dd></div>
<div><dt>Delivery id</dt><dd class="mono">${delivery._id}</dd></div>
<div><dt>Created</dt><dd>${moment(delivery.createdAt)}</dd></div>
<div><dt>${state === 'waiting' ? 'Next attempt' : 'Ended'}</dt><dd>${
          state === 'waiting'
            ? claimableAt && claimedBy === undefined
              ? moment(claimableAt)
              : 'Now'
            : delivery.endedAt && moment(delivery.endedAt)
        }</dd></div>
</dl>`,
      ),
      card(
        { title: 'Attempts' },
        attempts.length === 0
          ? emptyState({ title: 'Not sent yet', text: 'The first attempt begins within seconds.' })
          : table({
              caption: 'Attempts',
              columns: [
                { label: 'Number' },
                { label: 'At' },
                { label: 'Status' },
                { label: 'Time', numeric: true, wide: true },
                { label: 'What came back' },
              ],
              rows: attempts
                .toReversed()
                .map((each) => [
                  each.number,
                  moment(each.at),
                  each.error === undefined && each.status !== undefined
                    ? pill(String(each.status), 'good')
                    : pill(
                        each.status === undefined
                          ? each.durationMs === undefined
                            ? 'Under way'
                            : 'None'
                          : String(each.status),
                        'bad',
                      ),
                  each.durationMs === undefined ? '' : `${each.durationMs} ms`,
                  html`${each.error !== undefined && html`<p>${each.error}</p>`}${each.answer !== undefined && html`<pre>${each.answer}</pre>`}`,
                ]),
            }),
      ),
      card({ title: 'Body', text: 'The exact bytes of every attempt.' }, html`<pre>${delivery.body}</pre>`),
    ],
  })
}
