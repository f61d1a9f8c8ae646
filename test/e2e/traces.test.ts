import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { signLink } from '../../sdk/src/index.ts'
import { type CollectedSpan, startCollector } from '../support/collector.ts'
import { type Service, startService } from '../support/service.ts'
import { until } from '../support/until.ts'
import { hostedPage, openVisitorBrowser, signIn } from '../support/visitor.ts'

const traces = suite('traces of OpenTelemetry')

let collector: Awaited<ReturnType<typeof startCollector>>
let service: Service
let browser: Browser
traces.before(async () => {
  collector = await startCollector()
  service = await startService({
    // Spans leave sooner than after the five seconds that are usual.
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '200' },
  })
  browser = await openVisitorBrowser()
})
traces.after(async () => {
  await browser?.close()
  await service?.stop()
  await collector?.stop()
})

const spanOf = (name: string, holds: (span: CollectedSpan) => boolean = () => true): Promise<CollectedSpan> =>
  until(`the span ${name}`, () => collector.spans.find((span) => span.name === name && holds(span)))

/** The log lines of a trace, by the process that wrote them. */
const loggedBy = (traceId: string): string[] =>
  service
    .log()
    .split('\n')
    .filter((line) => line.includes(`"trace_id":"${traceId}"`))
    .map((line) => (JSON.parse(line) as { name: string }).name)

traces(
  'a login, its command and the delivery of its event are one trace, in the logs of all processes too',
  async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    const { url, token } = signLink({ ...service.app, userRef: 'visitor traced', baseUrl: service.baseUrl })
    await page.goto(url)
    const hosted = hostedPage(page)
    await signIn(hosted, { email: 'traced@example.test' })
    const connect = await spanOf('command connect')
    const { traceId } = connect
    const lease = await spanOf('lease', (span) => span.traceId === traceId)
    assert.is(lease.service, 'ccs-browser-farm')
    assert.is(connect.service, 'ccs-actors')
    assert.is(connect.attributes['ccs.outcome'], 'done')
    assert.is(lease.attributes['ccs.outcome'], 'connected')
    assert.is(connect.parentSpanId, lease.spanId)
    const asked = await until('the request', () => collector.spans.find(({ spanId }) => spanId === lease.parentSpanId))
    assert.is(asked.service, 'ccs-http')
    assert.is(asked.traceId, traceId)
    await spanOf('delivery attempt', (span) => span.traceId === traceId && span.parentSpanId === connect.spanId)
    assert.ok(loggedBy(traceId).includes('http'))

    const sync = await spanOf('sync')
    assert.is(sync.parentSpanId, undefined)
    await spanOf('delivery attempt', (span) => span.parentSpanId === sync.spanId)
    await until('its line in the log', () => loggedBy(sync.traceId).includes('actors'))
    const told = JSON.stringify(collector.spans)
    for (const secret of ['visitor traced', 'traced@example.test', token]) assert.not.ok(told.includes(secret), secret)
  },
)

traces.run()
