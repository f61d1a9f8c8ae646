import type { OpsConnections } from '../../wire/ops.ts'
import { clean, since, status, toneOf, until } from '../text.ts'
import { type Context, type Detail, defineView, type Row } from '../view.ts'
import { deliveryLine } from './delivery-line.ts'

type Connection = OpsConnections['connections'][number]

const NEWEST = 200

export const connections = defineView<OpsConnections>({
  title: 'Connections',
  columns: [
    { title: 'status', width: 15 },
    { title: 'user', width: 'rest' },
    { title: 'app', width: 14 },
    { title: 'convs', width: 7, align: 'right' },
    { title: 'last sync', width: 9, align: 'right' },
    { title: 'next sync', width: 11, align: 'right' },
    { title: 'captured', width: 9, align: 'right', from: 100 },
    { title: 'id', width: 10, from: 120 },
    { title: 'last outcome', width: 'rest', from: 120 },
  ],
  sort: { column: 6, down: false },
  hints: { list: 'Enter detail  y sync  p purge  P purge user', opened: ['y sync', 'p purge', 'P purge user'] },
  /** The newest, and whatever the service finds for the filter: it knows all of them. */
  load: async (client, { q, signal }) => {
    const list = async (query: Record<string, string | number>): Promise<Connection[]> =>
      (await client('listConnections', { query: { limit: NEWEST, ...query }, ...(signal && { signal }) })).connections
    const lists = await Promise.all([list({}), ...(q === '' ? [] : [list({ q })])])
    return { connections: [...new Map(lists.flat().map((each) => [each.id, each])).values()] }
  },
  summary: ({ connections }) => [`${connections.length} of the newest and those found; / searches all of them`],
  rows: ({ connections }, context) => connections.map((connection) => row(connection, context)),
  loadDetail: async (client, id) => {
    const now = Date.now()
    const { syncs, deliveries } = await client('getConnection', { params: { id } })
    return [
      '',
      'Last syncs',
      ...(syncs.length === 0 ? ['  none'] : syncs.map(({ at, outcome }) => `  ${at}  ${clean(outcome)}`)),
      '',
      'Deliveries',
      ...(deliveries.length === 0 ? ['  none of late'] : deliveries.map((each) => `  ${deliveryLine(each, now)}`)),
    ]
  },
})

const stateOf = ({ status, quarantinedAt, working }: Connection): string => {
  if (quarantinedAt !== null) return 'quarantined'
  return working && status === 'active' ? 'active, syncing' : status
}

function row(connection: Connection, { now }: Context): Row {
  const { id, appId, userRef, conversationCount, lastSyncAt, nextSyncAt, capturedAt, outcome, accountId } = connection
  const ago = (iso: string | null): number => (iso === null ? Number.POSITIVE_INFINITY : now - Date.parse(iso))
  return {
    id,
    cells: [
      status(connection.quarantinedAt === null ? connection.status : 'quarantined'),
      clean(userRef),
      clean(appId),
      String(conversationCount),
      since(lastSyncAt, now),
      connection.working ? '● syncing' : until(nextSyncAt, now),
      since(capturedAt, now),
      id.slice(0, 8),
      clean(outcome ?? '-'),
    ],
    sort: [
      stateOf(connection),
      userRef,
      appId,
      conversationCount,
      ago(lastSyncAt),
      -ago(nextSyncAt),
      ago(capturedAt),
      id,
      outcome ?? '',
    ],
    tone: toneOf(connection.quarantinedAt === null ? connection.status : 'quarantined'),
    search: `${userRef} ${id} ${accountId} ${connection.userId} ${appId} ${connection.status} ${stateOf(connection)}`,
    target: { kind: 'connection', id, appId, userRef },
    detail: detail(connection, now),
  }
}

function detail(connection: Connection, now: number): Detail {
  const { progress, device, replaces, lastSyncAt, nextSyncAt, revokedAt } = connection
  return [
    ['id', connection.id],
    ['user', clean(connection.userRef)],
    ['app', clean(connection.appId)],
    ['status', status(stateOf(connection))],
    ['provider', clean(connection.provider)],
    ['account', clean(connection.accountId)],
    ['captured', `${connection.capturedAt} (${since(connection.capturedAt, now)} ago)`],
    ['last sync', lastSyncAt === null ? 'none yet' : `${lastSyncAt} (${since(lastSyncAt, now)} ago)`],
    ['next sync', nextSyncAt === null ? '-' : `${nextSyncAt} (${until(nextSyncAt, now)})`],
    ['last outcome', clean(connection.outcome ?? '-')],
    [
      'conversations',
      `${progress.stored} stored of ${progress.total ?? 'unknown'}, history ${progress.done ? 'complete' : 'being read'}`,
    ],
    ['crashes', `${connection.crashes} in a row`],
    ...(revokedAt === null ? [] : [['revoked', revokedAt] as [string, string]]),
    ...(replaces.length === 0 ? [] : [['replaces', replaces.join(' ')] as [string, string]]),
    ...Object.entries(device).map(([name, value]): [string, string] => [`device ${clean(name)}`, clean(value)]),
  ]
}
