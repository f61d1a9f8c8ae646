import type { OpsLeases, Overview } from '../../wire/ops.ts'
import { clean, counted, since, status, toneOf, until } from '../text.ts'
import { type Context, defineView, type Row } from '../view.ts'

type Lease = OpsLeases['leases'][number]
interface Browsers extends OpsLeases {
  nodes: Overview['processDetails']
}

const NEWEST = 200

export const browsers = defineView<Browsers>({
  title: 'Browsers',
  columns: [
    { title: 'state', width: 12 },
    { title: 'user', width: 'rest' },
    { title: 'app', width: 12 },
    { title: 'device', width: 8 },
    { title: 'size', width: 10 },
    { title: 'viewer', width: 10 },
    { title: 'age', width: 8, align: 'right' },
    { title: 'node', width: 10, from: 100 },
    { title: 'ends', width: 11, align: 'right', from: 120 },
    { title: 'id', width: 10, from: 120 },
  ],
  sort: { column: 6, down: false },
  hints: { list: 'Enter detail  x release', opened: ['x release'] },
  load: async (client, { signal }) => {
    const options = signal ? { signal } : {}
    const [{ leases }, { processDetails }] = await Promise.all([
      client('listLeases', { query: { limit: NEWEST }, ...options }),
      client('getOverview', options),
    ])
    return { nodes: processDetails.filter(({ kind }) => kind === 'browser-farm'), leases }
  },
  summary: ({ nodes, leases }) => [
    `${counted(leases.filter(({ endedAt }) => endedAt === null).length, 'lease')} open, ${counted(nodes.length, 'node')}`,
    ...nodes.map(
      ({ id, host, pid, state, gauges }) =>
        `node ${id.slice(0, 8)}  ${clean(host)} ${pid}  ${status(state)}  ${gauges['leases'] ?? 0} of ${gauges['capacity'] ?? 0} taken`,
    ),
  ],
  rows: ({ leases }, context) => leases.map((lease) => row(lease, context)),
})

function row(lease: Lease, { now }: Context): Row {
  const { id, appId, userRef, state, viewport, createdAt, endedAt, expiresAt, nodeId, failure, connectionId } = lease
  const device = viewport.mobile ? 'phone' : 'desktop'
  const size = `${viewport.width}x${viewport.height}`
  const viewer = endedAt === null ? (lease.viewerPresent ? 'present' : 'away') : 'ended'
  const ends = endedAt === null ? until(expiresAt, now) : `${since(endedAt, now)} ago`
  return {
    id,
    cells: [
      status(state),
      clean(userRef),
      clean(appId),
      device,
      size,
      status(viewer),
      since(createdAt, now),
      nodeId?.slice(0, 8) ?? '-',
      ends,
      id.slice(0, 8),
    ],
    sort: [
      state,
      userRef,
      appId,
      device,
      viewport.width * viewport.height,
      viewer,
      now - Date.parse(createdAt),
      nodeId ?? '',
      Date.parse(endedAt ?? expiresAt),
      id,
    ],
    tone: toneOf(state),
    search: `${userRef} ${id} ${appId} ${state} ${device} ${viewer} ${connectionId ?? ''}`,
    target: { kind: 'lease', id },
    detail: [
      ['id', id],
      ['user', clean(userRef)],
      ['app', clean(appId)],
      ['provider', clean(lease.provider)],
      ['state', status(state)],
      ['failure', clean(failure ?? '-')],
      ['viewer', status(viewer)],
      ['device', `${device}, ${size} at ${viewport.deviceScaleFactor}`],
      ['node', nodeId ?? '-'],
      ['connection', connectionId ?? '-'],
      ['begun', `${createdAt} (${since(createdAt, now)} ago)`],
      ['ends', `${expiresAt} (${until(expiresAt, now)})`],
      ['asked to end', lease.releaseRequestedAt ?? '-'],
      ['ended', endedAt ?? '-'],
    ],
  }
}
