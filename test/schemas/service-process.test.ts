import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createParts } from '../../core/parts.ts'
import { connectDatabase } from '../../schemas/database.ts'
import { ProcessRecords } from '../../schemas/operations/process-record.ts'
import { startWork, type Work } from '../../schemas/service-process.ts'
import { testDatabase } from '../support/database.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/proxy.ts'
import { testRuntime } from '../support/runtime.ts'
import { until } from '../support/until.ts'

const test = suite('what every process of the service has')
let proxy: DatabaseProxy
let stop: () => Promise<void>
test.before(async () => {
  const database = await testDatabase()
  proxy = await startDatabaseProxy(database.url)
  const connection = await connectDatabase({ url: proxy.url })
  stop = async () => {
    await connection.close()
    await proxy.stop()
    await database.drop()
  }
})
test.after(() => stop())

const gate = () => {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), opened }
}

async function begin() {
  const runtime = testRuntime({ url: proxy.url })
  const parts = createParts(runtime)
  const [starts, stops] = [gate(), gate()]
  let lacking: string | null = null
  const work: Work = { gauges: () => ({ pots: 3 }), lacks: () => lacking }
  const started = startWork({
    kind: 'actors',
    runtime,
    parts,
    start: async ({ parts: own }) => {
      own.add({ stop: () => stops.opened })
      await starts.opened
      return work
    },
  })
  const record = await until('its record', () => ProcessRecords.findOne().lean())
  const ask = async (path: string, options = {}) => {
    const response = await fetch(`http://127.0.0.1:${record.healthPort}${path}`, options)
    return { status: response.status, text: await response.text() }
  }
  const lack = (what: string | null): void => {
    lacking = what
  }
  return { parts, starts, stops, started, record, ask, lack }
}

const state = async () => (await ProcessRecords.findOne().lean())?.state

test('its record says what it is at: starting, running, draining; then it is gone', async () => {
  const { parts, starts, stops, started, record, ask } = await begin()
  assert.is(record.state, 'starting')
  assert.equal(await ask('/readyz'), { status: 503, text: '{"error":"The process is starting"}' })
  assert.is((await ask('/healthz')).status, 200)
  starts.open()
  await started
  await until('it runs', async () => (await state()) === 'running')
  assert.equal(await ask('/readyz'), { status: 200, text: '{"ok":true}' })
  const stopped = parts.stop()
  await until('it drains', async () => (await state()) === 'draining')
  assert.equal(await ask('/readyz'), { status: 503, text: '{"error":"The process is draining"}' })
  stops.open()
  await stopped
  assert.is(await state(), undefined)
})

test('its health listener has its numbers, and says what it lacks', async () => {
  const { parts, starts, stops, started, ask, lack } = await begin()
  starts.open()
  await started
  lack('A browser')
  assert.equal(await ask('/readyz'), { status: 503, text: '{"error":"A browser"}' })
  lack(null)
  proxy.freeze()
  assert.equal(await ask('/readyz'), { status: 503, text: '{"error":"The database does not answer"}' })
  assert.is((await ask('/healthz')).status, 200)
  proxy.restore()
  await until('it is ready again', async () => (await ask('/readyz')).status === 200)
  const metrics = await ask('/metrics')
  assert.match(metrics.text, /^ccs_work\{what="pots"\} 3$/m)
  assert.match(metrics.text, /^ccs_work\{what="failedBeats"\} \d+$/m)
  assert.match(metrics.text, /^ccs_process_cpu_seconds_total /m)
  assert.is((await ask('/other')).status, 404)
  assert.is((await ask('/healthz', { method: 'POST' })).status, 405)
  stops.open()
  await parts.stop()
})

test('a beat that failed is counted where operators look, and the next one goes out all the same', async () => {
  const { parts, starts, stops, started } = await begin()
  starts.open()
  await started
  const silence = proxy.silenceAfter('update', 'processes')
  await until('a beat that is not answered', silence.lost)
  const failed = async () => (await ProcessRecords.findOne().lean())?.gauges['failedBeats']
  await until('it to be told', failed)
  stops.open()
  await parts.stop()
})

test.run()
