import type { OpsDeliveries } from '../../wire/ops.ts'
import { clean, since, status, toneOf } from '../text.ts'
import { type Context, type Detail, defineView, type Row } from '../view.ts'
import { type Delivery, lastAnswer, stateOf, when } from './delivery-line.ts'

const NEWEST = 200
const STATES = ['waiting', 'delivered', 'dropped']
/** What an app may be called; anything else the service refuses to look for. */
const APP_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const deliveries = defineView<OpsDeliveries>({
  title: 'Deliveries',
  columns: [
    { title: 'state', width: 12 },
    { title: 'event', width: 18 },
    { title: 'user', width: 'rest' },
    { title: 'app', width: 12, from: 100 },
    { title: 'tries', width: 5, align: 'right' },
    { title: 'when', width: 10, align: 'right' },
    { title: 'age', width: 8, align: 'right' },
    { title: 'id', width: 10, from: 120 },
    { title: 'endpoint', width: 26, from: 140 },
    { title: 'last answer', width: 'rest', from: 120 },
  ],
  sort: { column: 6, down: false },
  hints: { list: 'Enter attempts  r replay  R replay all', opened: ['r replay'] },
  /** The newest; for a state, an app or an id in the filter also what the service finds for it. */
  load: async (client, { q, signal }) => {
    const list = async (query: Record<string, string | number>): Promise<Delivery[]> =>
      (await client('listDeliveries', { query: { limit: NEWEST, ...query }, ...(signal && { signal }) })).deliveries
    const state = STATES.find((each) => q.length > 2 && each.startsWith(q)) ?? (q === 'failing' ? 'waiting' : undefined)
    const lists = await Promise.all([
      list({}),
      list({ state: 'waiting' }),
      ...(state === undefined || state === 'waiting' ? [] : [list({ state })]),
      ...(UUID.test(q) ? [list({ q: q.toLowerCase() })] : []),
      ...(!APP_ID.test(q) ? [] : [list({ appId: q }), list({ appId: q, state: 'waiting' })]),
    ])
    return { deliveries: [...new Map(lists.flat().map((each) => [each.id, each])).values()] }
  },
  summary: ({ deliveries }) => {
    const count = (wanted: string): number => deliveries.filter((each) => stateOf(each) === wanted).length
    return [
      `of the newest: ${count('waiting')} waiting  ${count('failing')} failing  ${count('dropped')} dropped  ${count('delivered')} delivered`,
    ]
  },
  rows: ({ deliveries }, context) => deliveries.map((delivery) => row(delivery, context)),
})

function row(delivery: Delivery, { now }: Context): Row {
  const { id, event, appId, endpoint, attempts, createdAt, nextAttemptAt, endedAt } = delivery
  const state = stateOf(delivery)
  const { userRef, connectionId } = subjectOf(delivery.body)
  const at = Date.parse(endedAt ?? nextAttemptAt ?? createdAt)
  return {
    id,
    cells: [
      status(state),
      event,
      clean(userRef),
      clean(appId),
      String(attempts.length),
      when(delivery, now),
      since(createdAt, now),
      id.slice(0, 8),
      clean(endpoint ?? 'none'),
      lastAnswer(delivery),
    ],
    sort: [
      state,
      event,
      userRef,
      appId,
      attempts.length,
      at,
      now - Date.parse(createdAt),
      id,
      endpoint ?? '',
      lastAnswer(delivery),
    ],
    tone: toneOf(state),
    search: `${id} ${event} ${userRef} ${connectionId} ${appId} ${endpoint ?? ''} ${state} ${delivery.state}`,
    target: { kind: 'delivery', id, ended: delivery.state === 'delivered' },
    detail: detail(delivery, { userRef, connectionId, now }),
  }
}

function detail(
  delivery: Delivery,
  { userRef, connectionId, now }: { userRef: string; connectionId: string; now: number },
): Detail {
  const { id, event, appId, endpoint, attempts, createdAt, nextAttemptAt, endedAt } = delivery
  return [
    ['id', id],
    ['event', event],
    ['state', status(stateOf(delivery))],
    ['app', clean(appId)],
    ['endpoint', clean(endpoint ?? 'none')],
    ['user', clean(userRef)],
    ['connection', clean(connectionId || '-')],
    ['made', `${createdAt} (${since(createdAt, now)} ago)`],
    ['next attempt', nextAttemptAt ?? '-'],
    ['ended', endedAt ?? '-'],
    '',
    'Attempts',
    ...(attempts.length === 0 ? ['  none yet'] : []),
    ...attempts.flatMap(({ number, at, status: answered, durationMs, error, answer }) => [
      `  ${number}  ${at}  ${answered ?? 'no answer'}  ${durationMs === null ? 'under way' : `${Math.round(durationMs)} ms`}  ${clean(error ?? '')}`,
      ...(answer ? [`     ${clean(answer)}`] : []),
    ]),
    '',
    ['body', clean(delivery.body)],
  ]
}

/** Whom an event is about. */
function subjectOf(body: string): { userRef: string; connectionId: string } {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '')
  try {
    const { payload } = JSON.parse(body) as { payload?: { userRef?: unknown; connectionId?: unknown } }
    return { userRef: text(payload?.userRef), connectionId: text(payload?.connectionId) }
  } catch {
    return { userRef: '', connectionId: '' }
  }
}
