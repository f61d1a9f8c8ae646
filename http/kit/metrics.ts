import type { RequestHandler } from 'express'
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client'

export interface Measurement {
  method: string
  route: string
  status: number
  seconds: number
}

export interface HttpMetrics {
  observe(measurement: Measurement): void
  /** Returns the present numbers in Prometheus' text format. */
  handler: RequestHandler
}

/** The numbers of one http process. Names no app, user or id. */
export function createMetrics(): HttpMetrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry, prefix: 'ccs_' })
  const durations = new Histogram({
    name: 'ccs_http_request_seconds',
    help: 'Duration of HTTP requests',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers: [registry],
  })
  return {
    observe: ({ method, route, status, seconds }) =>
      durations.observe({ method: METHODS.has(method) ? method : 'other', route, status: String(status) }, seconds),
    handler: async (_request, response) => {
      response.type(registry.contentType).send(await registry.metrics())
    },
  }
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
