import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Registry } from 'prom-client'
import { suite, test } from 'uvu'
import * as assert from 'uvu/assert'
import { measureQueueAges } from '../../actors/queue-ages.ts'
import { systemClock } from '../../core/clock.ts'
import { collectDefaults, numbersOf } from '../../core/numbers.ts'
import { measureRequests } from '../../http/kit/metrics.ts'
import { systemEnv } from '../../start/set-up/debian-packages.ts'

const run = promisify(execFile)

const root = new URL('../../', import.meta.url)
const read = (path: string): Promise<string> => readFile(new URL(path, root), 'utf8')

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[]
}

/** What processes export, apart from suffixes that Prometheus' own types add. */
async function exported(): Promise<Set<string>> {
  const metrics = new Registry()
  collectDefaults(metrics)
  numbersOf(metrics)
  measureRequests(metrics)
  measureQueueAges({ metrics, clock: systemClock() })
  return new Set([...metrics.getMetricsAsArray().map(({ name }) => name), 'ccs_work'])
}

const namesIn = (text: string): string[] =>
  [...text.matchAll(/\bccs_[a-z0-9_]+/g)].map(([name]) => name.replace(/_(?:bucket|count|sum)$/, ''))

test('alerts and dashboard speak of numbers that the processes export', async () => {
  const names = await exported()
  const dashboard = JSON.parse(await read('deploy/grafana/ccs.json')) as Dashboard
  const asked = namesIn([await read('deploy/prometheus/alerts.yml'), JSON.stringify(dashboard)].join('\n'))
  assert.ok(asked.length > 20)
  assert.equal(
    [...new Set(asked)].filter((name) => !names.has(name)),
    [],
  )
  assert.is(new Set(dashboard.panels.map(({ title }) => title)).size, dashboard.panels.length)
})

/** Prometheus' own checker: the machine's, or Debian's, unpacked into a folder of this test. */
async function findPromtool(folder: string): Promise<string> {
  const found = await run('which', ['promtool']).catch(() => null)
  if (found) return found.stdout.trim()
  const env = systemEnv(process.env)
  const download = () => run('apt-get', ['download', 'prometheus'], { cwd: folder, env })
  await download().catch(async () => {
    // A fresh machine has no package lists yet.
    await run('apt-get', ['update'], { env })
    await download()
  })
  const [archive = ''] = (await readdir(folder)).filter((name) => name.endsWith('.deb'))
  await run('dpkg', ['-x', archive, 'unpacked'], { cwd: folder, env })
  return join(folder, 'unpacked/usr/bin/promtool')
}

const ALERTS = fileURLToPath(new URL('deploy/prometheus/alerts.yml', root))
const checks = suite<{ folder: string; promtool: string }>('what Prometheus says')
checks.before(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'ccs-promtool-'))
  context.promtool = await findPromtool(context.folder)
})
checks.after(({ folder }) => rm(folder, { recursive: true, force: true }))

checks('it takes the alerts, and every expression of the dashboard', async ({ folder, promtool }) => {
  const { panels } = JSON.parse(await read('deploy/grafana/ccs.json')) as Dashboard
  const rules = panels.flatMap(({ targets }) => targets).map(({ expr }, n) => ({ record: `panel:${n}`, expr }))
  const asRules = join(folder, 'dashboard.json')
  await writeFile(asRules, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
  const { stdout } = await run(promtool, ['check', 'rules', ALERTS, asRules])
  assert.is(stdout.match(/SUCCESS/g)?.length, 2, stdout)
})

/** One hour of a small service in which nothing is wrong, minute by minute. */
const HEALTHY: Record<string, string> = {
  'up{job="ccs", instance="http"}': '1x60',
  'up{job="ccs", instance="actors"}': '1x60',
  'up{job="ccs", instance="farm"}': '1x60',
  'ccs_work{what="viewers", instance="http"}': '1x60',
  'ccs_work{what="leases", instance="farm"}': '1x60',
  'ccs_work{what="capacity", instance="farm"}': '10x60',
  'ccs_work{what="failedBeats", instance="http"}': '3x60',
  'ccs_queue_age_seconds{queue="connections", instance="actors"}': '4x60',
  'ccs_queue_age_seconds{queue="commands", instance="actors"}': '0x60',
  'ccs_queue_age_seconds{queue="deliveries", instance="actors"}': '1x60',
  'ccs_queue_age_seconds{queue="leases", instance="actors"}': '0x60',
  'ccs_queue_age_seconds{queue="mails", instance="actors"}': '0x60',
  'ccs_syncs_total{outcome="complete", instance="actors"}': '0+5x60',
  'ccs_syncs_total{outcome="unavailable", instance="actors"}': '0+1x60',
  'ccs_syncs_total{outcome="crashed", instance="actors"}': '1x60',
  'ccs_commands_total{kind="connect", outcome="done", instance="actors"}': '0+2x60',
  'ccs_commands_total{kind="connect", outcome="crashed", instance="actors"}': '1x60',
  'ccs_delivery_attempt_seconds_count{outcome="delivered", instance="actors"}': '0+9x60',
  'ccs_delivery_attempt_seconds_count{outcome="failed", instance="actors"}': '0+1x60',
  'ccs_http_request_seconds_count{status="200", instance="http"}': '0+100x60',
  'ccs_http_request_seconds_count{status="500", instance="http"}': '0+0x60',
  'ccs_nodejs_eventloop_lag_p99_seconds{instance="http"}': '0.02x60',
}

/** What is different where something is wrong, and the alerts that fire then: these and no others. `_`: not scraped. */
const TROUBLES: { differs: Record<string, string>; fire: string[] }[] = [
  { differs: { 'up{job="ccs", instance="actors"}': '1x30 0x30' }, fire: ['CcsProcessesGone'] },
  { differs: { 'ccs_work{what="capacity", instance="farm"}': '10x30 _x30' }, fire: ['CcsKindGone'] },
  { differs: { 'ccs_work{what="viewers", instance="http"}': '1x30 _x30' }, fire: ['CcsKindGone'] },
  {
    differs: Object.fromEntries(
      Object.keys(HEALTHY).flatMap((name) => (name.startsWith('ccs_queue_age') ? [[name, '1x30 _x30']] : [])),
    ),
    fire: ['CcsKindGone'],
  },
  { differs: { 'ccs_work{what="failedBeats", instance="http"}': '3x40 3+15x20' }, fire: ['CcsDatabaseSilent'] },
  {
    differs: { 'ccs_queue_age_seconds{queue="connections", instance="actors"}': '0+60x60' },
    fire: ['CcsSyncsLate'],
  },
  { differs: { 'ccs_queue_age_seconds{queue="commands", instance="actors"}': '0+60x60' }, fire: ['CcsCommandsLate'] },
  {
    differs: { 'ccs_queue_age_seconds{queue="deliveries", instance="actors"}': '0+60x60' },
    fire: ['CcsDeliveriesLate'],
  },
  { differs: { 'ccs_queue_age_seconds{queue="mails", instance="actors"}': '0+60x60' }, fire: ['CcsMailsLate'] },
  { differs: { 'ccs_queue_age_seconds{queue="leases", instance="actors"}': '0+60x60' }, fire: ['CcsVisitorsWait'] },
  {
    differs: { 'ccs_delivery_attempt_seconds_count{outcome="failed", instance="actors"}': '0+20x60' },
    fire: ['CcsDeliveriesFail'],
  },
  {
    differs: { 'ccs_syncs_total{outcome="unavailable", instance="actors"}': '0+20x60' },
    fire: ['CcsSyncsFail'],
  },
  // One connection alone, whose provider is away at night, wakes nobody.
  {
    differs: {
      'ccs_syncs_total{outcome="complete", instance="actors"}': '7x60',
      'ccs_syncs_total{outcome="unavailable", instance="actors"}': '0x30 1x30',
    },
    fire: [],
  },
  { differs: { 'ccs_syncs_total{outcome="crashed", instance="actors"}': '0+1x60' }, fire: ['CcsSyncsCrash'] },
  {
    differs: { 'ccs_commands_total{kind="connect", outcome="crashed", instance="actors"}': '0+1x60' },
    fire: ['CcsCommandsCrash'],
  },
  { differs: { 'ccs_work{what="leases", instance="farm"}': '10x60' }, fire: ['CcsBrowsersFull'] },
  { differs: { 'ccs_http_request_seconds_count{status="500", instance="http"}': '0+10x60' }, fire: ['CcsApiErrors'] },
  // One failed request in a quiet hour is in the log, and no page.
  {
    differs: {
      'ccs_http_request_seconds_count{status="200", instance="http"}': '40x60',
      'ccs_http_request_seconds_count{status="500", instance="http"}': '0x45 1x15',
    },
    fire: [],
  },
  { differs: { 'ccs_nodejs_eventloop_lag_p99_seconds{instance="http"}': '0.9x60' }, fire: ['CcsEventLoopHeldUp'] },
]

checks('each alert fires in its trouble, and none where nothing is wrong', async ({ folder, promtool }) => {
  const names = [...(await read('deploy/prometheus/alerts.yml')).matchAll(/- alert: (\w+)/g)].map(
    ([, name = '']) => name,
  )
  const tests = [{ differs: {}, fire: [] as string[] }, ...TROUBLES].map(({ differs, fire }) => ({
    interval: '1m',
    input_series: Object.entries({ ...HEALTHY, ...differs }).map(([series, values]) => ({ series, values })),
    promql_expr_test: names.map((name) => ({
      expr: `count by (alertname) (ALERTS{alertname="${name}", alertstate="firing"})`,
      eval_time: '50m',
      exp_samples: fire.includes(name) ? [{ labels: `{alertname="${name}"}`, value: 1 }] : [],
    })),
  }))
  const file = join(folder, 'alerts-test.json')
  await writeFile(file, JSON.stringify({ rule_files: [ALERTS], evaluation_interval: '1m', tests }))
  await run(promtool, ['test', 'rules', file]).catch(({ stdout, stderr }) => assert.unreachable(`${stdout}${stderr}`))
  const tried = new Set(TROUBLES.flatMap(({ fire }) => fire))
  assert.equal(
    names.filter((name) => !tried.has(name)),
    [],
  )
})

checks('it takes the numbers of a process', async ({ promtool }) => {
  const metrics = new Registry()
  collectDefaults(metrics)
  numbersOf(metrics)
  measureRequests(metrics)
  const checking = run(promtool, ['check', 'metrics'])
  checking.child.stdin?.end(await metrics.metrics())
  await checking.catch(({ stdout, stderr }) => assert.unreachable(`${stdout}${stderr}`))
})

checks.run()

test('each alert is explained to operators', async () => {
  const page = await read(['docs', 'operations.md'].join('/'))
  const alerts = [...(await read('deploy/prometheus/alerts.yml')).matchAll(/- alert: (\w+)/g)].map(
    ([, name = '']) => name,
  )
  assert.ok(alerts.length > 5)
  for (const alert of alerts) assert.ok(page.includes(`\`${alert}\``), alert)
})

test.run()
