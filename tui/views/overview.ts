import type { Overview } from '../../wire/ops.ts'
import { clean, counted, duration, fit, megabytes, short, since, sparkline, status, toneOf } from '../text.ts'
import { type Context, defineView, type Row } from '../view.ts'

type Process = Overview['processDetails'][number]

/** Name, gap and sparkline of each of four. */
const SPARK_LABEL = 11
const SPARKS = 4

export const overview = defineView<Overview>({
  title: 'Overview',
  columns: [
    { title: 'process', width: 12 },
    { title: 'state', width: 10 },
    { title: 'pid', width: 7, align: 'right' },
    { title: 'lag', width: 7, align: 'right' },
    { title: 'memory', width: 7, align: 'right' },
    { title: 'up', width: 6, align: 'right' },
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
      `connections  ${short(connections.active)} ${status('active')}  ${short(connections.needs_reauth)} ${status('needs_reauth')}  ${short(connections.revoked)} ${status('revoked')}  ${short(connections.quarantined)} ${status('quarantined')}`,
      `syncs        ${short(syncs.due)} due  ${short(syncs.late)} late${syncs.late > 0 ? ' ▲' : ''}  oldest due for ${since(syncs.oldestDueAt, now)}`,
      `deliveries   ${short(deliveries.waiting)} waiting  ${short(deliveries.failing)} failing${deliveries.failing > 0 ? ' ▲' : ''}  ${short(deliveries.dropped)} dropped  oldest ${since(deliveries.oldestAt, now)}`,
      `browsers     ${gauge('leases')} of ${gauge('capacity')} taken on ${counted(farms.length, 'node')}  ${counted(counts.leases.open, 'lease')} open`,
      `commands     ${counts.commands.waiting} waiting   mails  ${counts.mails.waiting} waiting  ${counts.mails.dropped} dropped`,
      `stored       ${short(counts.conversations)} conversations  ${short(counts.users)} users  ${counted(counts.apps, 'app')}`,
      '',
      `The last quarter hour${history.active.every((value) => value === undefined) ? ', as this program sees it from now on' : ''}`,
      sparks.join('   '),
      '',
    ]
  },
  rows: ({ processDetails }, context) => processDetails.map((process) => row(process, context)),
})

/** `failedBeats` as people write it; bytes as megabytes. */
function named([name, value]: [name: string, value: number]): [string, string] {
  const words = clean(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`))
  return name.endsWith('Bytes') ? [words.replace(/ bytes$/, ''), megabytes(value)] : [words, String(value)]
}

function row(process: Process, { now }: Context): Row {
  const { id, kind, state, pid, host, healthPort, eventLoopLagMs, memoryBytes, startedAt, seenAt } = process
  const gauges = Object.entries(process.gauges)
  const busy = gauges.filter(([, value]) => value !== 0).map((each) => named(each).join(' '))
  const work = busy.join('  ') || 'nothing'
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
    tone: toneOf(state),
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
      ...gauges.map(named),
    ],
  }
}
