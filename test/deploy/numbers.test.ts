import { readFile } from 'node:fs/promises'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { measureQueueAges } from '../../actors/queue-ages.ts'
import { systemClock } from '../../core/clock.ts'
import { numbersOf } from '../../core/numbers.ts'
import { measureRequests } from '../../http/kit/metrics.ts'

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

test('each alert is explained to operators', async () => {
  const page = await read(['docs', 'operations.md'].join('/'))
  const alerts = [...(await read('deploy/prometheus/alerts.yml')).matchAll(/- alert: (\w+)/g)].map(
    ([, name = '']) => name,
  )
  assert.ok(alerts.length > 5)
  for (const alert of alerts) assert.ok(page.includes(`\`${alert}\``), alert)
})

test.run()
