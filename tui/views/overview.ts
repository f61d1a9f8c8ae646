import type { Overview } from '../../wire/ops.ts'
import { clean, counted, duration, fit, megabytes, since, sparkline, status } from '../text.ts'
import { type Context, defineView, type Row } from '../view.ts'

type Process = Overview['processDetails'][number]

/** Name, gap and sparkline of each of four. */
const SPARK_LABEL = 11
const SPARKS = 4

export const overview = defineView<Overview>({
  title: 'Overview',
  columns: [
    { title: 'process', width: 14 },
    { title: 'state', width: 12 },
    { title: 'pid', width: 8, align: 'right' },
    { title: 'lag', width: 8, align: 'right' },
    { title: 'memory', width: 8, align: 'right' },
    { title: 'up', width: 7, align: 'right' },
    { title: 'health', width: 7, align: 'right', from: 120 },
    { title: 'host', width: 24, from: 120 },
    { title: 'work', width: 'rest' },
  ],
  sort: { column: 0, down: false },
  hints: { list: 'Enter process', opened: [] },
  load: (client, { signal }) => client('getOverview', signal ? { signal } : {}),
  summary: ({ counts, environment, timeScale, database, processDetails }, { now, history, width }) => {
    const { connections, syncs, deliveries } = counts
    const farms = processDetails.filter(({ kind }) => kind === 'browser-farm')
    const gauge = (name: string): number => farms.reduce((sum, { gauges }) => sum + (gauges[name] ?? 0), 0)
    const spark = Math.max(6, Math.floor((width - 2) / SPARKS) - SPARK_LABEL)
    const sparks = Object.entries(history).map(
      ([name, values]) => `${fit(name, SPARK_LABEL - 3)} ${fit(sparkline(values, spark), spark)}`,
    )
    return [
      `${environment}${timeScale === 1 ? '' : `, time runs ${timeScale} times faster`}, database ${database.ok ? 'answers' : '✖ IS SILENT'}, counted ${since(counts.at, now)} ago`,
      `connections  ${connections.active} ${status('active')}  ${connections.needs_reauth} ${status('needs_reauth')}  ${connections.revoked} ${status('revoked')}  ${connections.quarantined} ${status('quarantined')}`,
      `syncs        ${syncs.due} due  ${syncs.late} late${syncs.late > 0 ? ' ▲' : ''}  oldest due for ${since(syncs.oldestDueAt, now)}`,
      `deliveries   ${deliveries.waiting} waiting  ${deliveries.failing} failing${deliveries.failing > 0 ? ' ▲' : ''}  ${deliveries.dropped} dropped  oldest ${since(deliveries.oldestAt, now)}`,
      `browsers     ${gauge('leases')} of ${gauge('capacity')} taken on ${counted(farms.length, 'node')}  ${counted(counts.leases.open, 'lease')} open`,
      `             commands waiting ${counts.commands.waiting}  mails waiting ${counts.mails.waiting}, dropped ${counts.mails.dropped}  ${counted(counts.conversations, 'conversation')}  ${counted(counts.users, 'user')}  ${counted(counts.apps, 'app')}`,
      '',
      `The last quarter hour${history.active.every((value) => value === undefined) ? ', as this program sees it from now on' : ''}`,
      sparks.join('   '),
      '',
    ]
  },
  rows: ({ processDetails }, context) => processDetails.map((process) => row(process, context)),
})

function row(process: Process, { now }: Context): Row {
  const { id, kind, state, pid, host, healthPort, eventLoopLagMs, memoryBytes, startedAt, seenAt } = process
  const gauges = Object.entries(process.gauges).map(([name, value]): [string, string] => [clean(name), String(value)])
  const work = gauges.map(([name, value]) => `${name} ${value}`).join(' ')
  const up = now - Date.parse(startedAt)
  return {
    id,
    cells: [
      kind,
      status(state),
      String(pid),
      `${eventLoopLagMs} ms`,
      megabytes(memoryBytes),
      duration(up),
      String(healthPort),
      clean(host),
      work,
    ],
    sort: [kind, state, pid, eventLoopLagMs, memoryBytes, up, healthPort, host, work],
    search: `${kind} ${state} ${pid} ${host} ${id}`,
    detail: [
      ['id', id],
      ['process', kind],
      ['state', status(state)],
      ['host', `${clean(host)}, pid ${pid}`],
      ['health port', `${healthPort}: /healthz, /readyz, /metrics`],
      ['event-loop lag', `${eventLoopLagMs} ms at most within the last second`],
      ['memory', megabytes(memoryBytes)],
      ['started', `${startedAt} (${duration(up)} ago)`],
      ['seen', `${seenAt} (${since(seenAt, now)} ago)`],
      ...gauges,
    ],
  }
}
