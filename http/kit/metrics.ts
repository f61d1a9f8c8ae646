import type { RequestHandler } from 'express'
import { Histogram, type Registry } from 'prom-client'

interface Measurement {
  method: string
  route: string
  status: number
  seconds: number
}

export type Observe = (measurement: Measurement) => void

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
const LABELS = ['method', 'route', 'status'] as const

/** Measures the requests of one http process. Names no app, user or id. */
export function measureRequests(registry: Registry): Observe {
  const durations = new Histogram({
    name: 'ccs_http_request_seconds',
    help: 'Duration of HTTP requests',
    labelNames: LABELS,
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  })
  return ({ method, route, status, seconds }) =>
    durations.observe({ method: METHODS.has(method) ? method : 'other', route, status: String(status) }, seconds)
}

/** Returns the present numbers in Prometheus' text format. */
export function showMetrics(registry: Registry): RequestHandler {
  return async (_request, response) => {
    response.type(registry.contentType).send(await registry.metrics())
  }
}
