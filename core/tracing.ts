import {
  type Attributes,
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'

/**
 * Spans of OpenTelemetry. Without an exporter (`startTraceExport`) nothing is recorded and nothing is carried. Attributes are ids, kinds and
 * outcomes: no user reference, no address, no content (docs/security.md, Secrets and tokens).
 */
const tracer = trace.getTracer('ccs')

/** A W3C Trace Context `traceparent`: what a document carries, so that whoever works on it in another process goes on with the trace. */
export type Traceparent = string

/** The trace of what runs now, to be put into a document: `{}` where none is recorded. */
export function carriedTrace(): { traceparent?: Traceparent } {
  const carrier: { traceparent?: Traceparent } = {}
  if (trace.getActiveSpan()?.isRecording()) propagation.inject(context.active(), carrier)
  return carrier.traceparent === undefined ? {} : { traceparent: carrier.traceparent }
}

/** The ids of the trace that runs now, as log lines carry them: `{}` where there is none. */
export function traceIds(): { trace_id?: string; span_id?: string } {
  const span = trace.getActiveSpan()?.spanContext()
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {}
}

/** Runs `work` in a span of its own, which goes on with the trace of `from` where that carries one. An error ends it as failed, and is thrown. */
export async function inSpan<T>(
  name: string,
  { attributes, from }: { attributes: Attributes; from?: { traceparent?: Traceparent } },
  work: () => Promise<T>,
): Promise<T> {
  const span = tracer.startSpan(name, { attributes }, parentOf(from))
  try {
    return await context.with(trace.setSpan(context.active(), span), work)
  } catch (error) {
    markFailed(span, error)
    throw error
  } finally {
    span.end()
  }
}

/** A span that begins now and ends when its owner says so; `run` makes it the present one. */
export function openSpan(name: string): {
  run(work: () => void): void
  end(name: string, attributes: Attributes): void
} {
  const span = tracer.startSpan(name)
  return {
    run: (work) => context.with(trace.setSpan(context.active(), span), work),
    end: (ended, attributes) => {
      span.updateName(ended).setAttributes(attributes).end()
    },
  }
}

/** How the work of the present span came out. */
export const traceOutcome = (outcome: string): void => void trace.getActiveSpan()?.setAttribute('ccs.outcome', outcome)

const parentOf = (from: { traceparent?: Traceparent } | undefined): Context =>
  from?.traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent: from.traceparent })

/** Its kind alone: the text of an error may repeat what came from outside. */
function markFailed(span: Span, error: unknown): void {
  const type = error instanceof Error ? error.name : 'Error'
  span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR, message: type })
}
