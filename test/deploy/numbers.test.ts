import { execFile } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { measureQueueAges } from '../../actors/queue-ages.ts'
import { systemClock } from '../../core/clock.ts'
import { numbersOf } from '../../core/numbers.ts'
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
  collectDefaultMetrics({ register: metrics, prefix: 'ccs_' })
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
async function promtool(folder: string): Promise<string> {
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

test('Prometheus takes the alerts, and every expression of the dashboard', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ccs-promtool-'))
  try {
    const { panels } = JSON.parse(await read('deploy/grafana/ccs.json')) as Dashboard
    const rules = panels.flatMap(({ targets }) => targets).map(({ expr }, n) => ({ record: `panel:${n}`, expr }))
    const asRules = join(folder, 'dashboard.json')
    await writeFile(asRules, JSON.stringify({ groups: [{ name: 'dashboard', rules }] }))
    const alerts = fileURLToPath(new URL('deploy/prometheus/alerts.yml', root))
    const { stdout } = await run(await promtool(folder), ['check', 'rules', alerts, asRules])
    assert.is(stdout.match(/SUCCESS/g)?.length, 2, stdout)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('each alert is explained to operators', async () => {
  const page = await read(['docs', 'operations.md'].join('/'))
  const alerts = [...(await read('deploy/prometheus/alerts.yml')).matchAll(/- alert: (\w+)/g)].map(
    ([, name = '']) => name,
  )
  assert.ok(alerts.length > 5)
  for (const alert of alerts) assert.ok(page.includes(`\`${alert}\``), alert)
})

test.run()
