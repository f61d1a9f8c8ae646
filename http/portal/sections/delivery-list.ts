import { DAY } from '../../../core/clock.ts'
import type { App } from '../../../schemas/app/app.ts'
import { trusted } from '../../../schemas/database.ts'
import { Deliveries, type Delivery } from '../../../schemas/delivery/delivery.ts'
import { EVENT_NAMES } from '../../../wire/events.ts'
import { html, type Markup } from '../../pages/kit/html.ts'
import { sectionPath } from '../kit/layout.ts'
import { pageLinks, readMoment, readPage } from '../kit/paging.ts'
import { card, emptyState, form, moment, select } from '../kit/parts.ts'
import { table } from '../kit/table.ts'
import type { AppExchange } from '../kit/visit.ts'
import { STATE_WORDS, statePill } from './delivery-state.ts'
import { REPLAY_SPANS } from './replay-spans.ts'

/** Deliveries are listed for so long; each is kept for 30 days after its end. */
const LISTED_MS = 7 * DAY
const PAGE = 25
const STATES = ['waiting', 'delivered', 'dropped'] as const

const pathOf = ({ app }: AppExchange): string => sectionPath(app._id, 'webhooks')

interface Filter {
  state?: (typeof STATES)[number]
  event?: Delivery['event']
}

function readFilter({ request }: AppExchange): Filter {
  const state = STATES.find((each) => each === request.query['state'])
  const event = EVENT_NAMES.find((each) => each === request.query['event'])
  return { ...(state && { state }), ...(event && { event }) }
}

/** The deliveries of the last days, by state and event, with the way to replay those that failed. */
export async function deliveriesCard(exchange: AppExchange): Promise<Markup> {
  const { app, runtime, request } = exchange
  const filter = readFilter(exchange)
  const before = readMoment(request.query['before'])
  const listed = trusted({ $gte: new Date(runtime.clock.now().getTime() - LISTED_MS) })
  const find = (at: unknown, limit: number): Promise<Delivery[]> =>
    Deliveries.find({
      ...filter,
      appId: app._id,
      $and: [{ createdAt: listed }, ...(at === undefined ? [] : [{ createdAt: at as Date }])],
    })
      .sort({ createdAt: -1 })
      .limit(limit)
      .lean<Delivery[]>()
  const page = await readPage({ find, timeOf: ({ createdAt }) => createdAt, length: PAGE }, before)
  const { shown } = page
  const filtered = Object.keys(filter).length > 0 || before !== undefined
  if (shown.length === 0 && !filtered) return card({ title: 'Recent deliveries' }, noDeliveries(app))
  return card({ title: 'Recent deliveries', text: 'Of the last 7 days.', aside: replayForm(exchange) }, [
    filterForm(exchange, filter),
    shown.length === 0
      ? emptyState({ title: 'Nothing matches', text: 'Choose another state or event, or look at all of them.' })
      : deliveryTable(exchange, shown),
    pageLinks({ path: pathOf(exchange), query: { ...filter }, before, next: page.before, what: 'deliveries' }),
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
  form(exchange, { action: `${pathOf(exchange)}/replay`, className: 'row' }, [
    select({ label: 'Failed since', name: 'hours', options: REPLAY_SPANS, hideLabel: true, value: '24' }),
    html`<button class="button plain">Replay failed</button>`,
  ])

const filterForm = (exchange: AppExchange, { state, event }: Filter): Markup =>
  form(exchange, { action: pathOf(exchange), method: 'get', className: 'row' }, [
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

const deliveryTable = (exchange: AppExchange, deliveries: Delivery[]): Markup =>
  table({
    caption: 'Recent deliveries',
    columns: [
      { label: 'Event' },
      { label: 'State' },
      { label: 'Attempts', numeric: true, wide: true },
      { label: 'Last answer', wide: true },
      { label: 'Created' },
    ],
    rows: deliveries.map((each) => [
      html`<a href="${pathOf(exchange)}/deliveries/${each._id}">${each.event}</a>`,
      statePill(each),
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
