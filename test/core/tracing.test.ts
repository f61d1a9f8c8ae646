import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { systemClock } from '../../core/clock.ts'
import { createLog } from '../../core/log.ts'
import { startTraceExport } from '../../core/trace-export.ts'
import { carriedTrace, inSpan, traceIds } from '../../core/tracing.ts'

const clock = systemClock()
const log = createLog({ name: 'test', level: 'silent' })
const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }
const inside = () => inSpan('work', { attributes: {} }, async () => ({ ...traceIds(), ...carriedTrace() }))

test('nothing is recorded and nothing is carried unless the environment names an exporter', async () => {
  for (const env of [
    {},
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' },
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
    { OTEL_TRACES_EXPORTER: 'none' },
  ]) {
    const { stop } = await startTraceExport({ kind: 'test', env, clock, log })
    const { traceparent, span_id: spanId } = (await inside()) as Record<string, string | undefined>
    assert.is(traceparent, undefined)
    assert.is(spanId, undefined)
    await stop()
  }
})

test('a failure is thrown on, and a trace goes on in another process', async () => {
  const { stop } = await startTraceExport({ kind: 'test', env: ENDPOINT, clock, log })
  const first = (await inside()) as Record<string, string>
  assert.match(first['traceparent'] ?? '', new RegExp(`^00-${first['trace_id']}-${first['span_id']}-01$`))
  const from = { traceparent: first['traceparent'] ?? '' }
  const second = await inSpan('more work', { attributes: {}, from }, async () => traceIds())
  assert.is(second.trace_id, first['trace_id'])
  assert.is.not(second.span_id, first['span_id'])
  const other = await inSpan('other work', { attributes: {} }, async () => traceIds())
  assert.is.not(other.trace_id, first['trace_id'])
  const failing = inSpan('failing', { attributes: {} }, () => Promise.reject(new Error('no')))
  const error = await failing.catch((thrown: unknown) => thrown)
  assert.is((error as Error).message, 'no')
  await stop()
})

test.run()
