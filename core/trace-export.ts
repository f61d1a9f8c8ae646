import { type Clock, SECOND } from './clock.ts'
import type { Logger } from './log.ts'
import { within } from './within.ts'

type Env = Record<string, string | undefined>

/** Of the time that a process has to stop; a collector that does not answer takes no more of it (machine ms). */
const LAST_SPANS_MS = SECOND

/** OpenTelemetry's standard variables: off unless an exporter or its address is named. */
const isWanted = (env: Env): boolean =>
  env['OTEL_SDK_DISABLED']?.toLowerCase() !== 'true' &&
  (env['OTEL_TRACES_EXPORTER'] ?? (endpointOf(env) ? 'otlp' : 'none')) === 'otlp'

const endpointOf = (env: Env): string | undefined =>
  env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] || env['OTEL_EXPORTER_OTLP_ENDPOINT']

/**
 * Sends this process's spans to a collector over OTLP (HTTP, JSON), where the environment says so: `OTEL_EXPORTER_OTLP_ENDPOINT`,
 * `OTEL_TRACES_EXPORTER=otlp`, `OTEL_TRACES_SAMPLER`, `OTEL_SERVICE_NAME` and their kin. `stop` sends what waits.
 */
export async function startTraceExport({
  kind,
  env,
  clock,
  log,
}: {
  kind: string
  env: Env
  clock: Clock
  log: Logger
}): Promise<{ stop(): Promise<void> }> {
  if (!isWanted(env)) return { stop: async () => undefined }
  // Loaded only where it is used: it is larger than all the rest of a process's start.
  const [{ BatchSpanProcessor, NodeTracerProvider }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const named = resources.resourceFromAttributes({ 'service.name': `ccs-${kind}`, 'process.pid': process.pid })
  const given = resources.detectResources({ detectors: [resources.envDetector] })
  const provider = new NodeTracerProvider({
    resource: resources.defaultResource().merge(named).merge(given),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  provider.register()
  log.info('traces are exported')
  return {
    stop: () =>
      within(LAST_SPANS_MS, provider.shutdown(), {
        clock,
        late: () => new Error('the collector does not answer'),
      }).catch((error: unknown) => log.warn({ err: error }, 'the last spans were not taken by the collector')),
  }
}
