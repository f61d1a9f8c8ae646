import { createServer as createHttpServer, type Server } from 'node:http'
import express, { type Express } from 'express'
import { HOUR, MINUTE, SECOND } from '../core/clock.ts'
import { createDailyCounter, type DailyCounter } from '../schemas/app/daily-count.ts'
import { apiRouter } from './api/index.ts'
import { bodyTime } from './kit/body-time.ts'
import { compress } from './kit/compress.ts'
import { requestContext } from './kit/context.ts'
import { endpoint } from './kit/endpoint.ts'
import { errorAnswer, unknownPath } from './kit/error-answer.ts'
import { expressObjects } from './kit/express-objects.ts'
import { fewAtOnce } from './kit/few-at-once.ts'
import { healthy, ready } from './kit/health.ts'
import { measureRequests, showMetrics } from './kit/metrics.ts'
import { noteRoutes, requestLog } from './kit/request-log.ts'
import type { HttpRuntime } from './kit/runtime.ts'
import { securityHeaders } from './kit/security-headers.ts'
import { docsRouter } from './openapi/index.ts'
import { opsRouter } from './ops/index.ts'
import { pagesRouter } from './pages/index.ts'
import { createAssets } from './pages/kit/assets.ts'
import { portal } from './portal/index.ts'
import { PORTAL_PATH } from './portal/routes.ts'
import { attachStreamRelay } from './stream/relay.ts'

const HEADERS_TIME_MS = 10 * SECOND
/** An upload of an export may take long; every other body has a bound of its own. */
const REQUEST_TIME_MS = HOUR
/** Longer than a load balancer keeps an idle connection, so that the service is never the one that closes it first. */
const KEEP_ALIVE_MS = 65 * SECOND
/** A connection on which nothing moves for so long is dead, or held open on purpose; longer than any answer of ours is waited for. */
const SILENT_MS = 5 * MINUTE
const MOST_HEADERS = 100
const MOST_CONNECTIONS = 10_000

/** Everything that the public listener answers, put together in one place. */
async function createApplication(runtime: HttpRuntime, daily: DailyCounter): Promise<Express> {
  const { config, clock, log, metrics } = runtime
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('query parser', 'simple')
  app.set('trust proxy', config.TRUST_PROXY)
  noteRoutes(app)
  app.use(fewAtOnce())
  app.use(requestContext({ log }))
  app.use(requestLog({ clock, log, observe: measureRequests(metrics) }))
  app.use(bodyTime(runtime))
  app.use(securityHeaders({ https: config.BASE_URL.startsWith('https:') }))
  // In production only the process's own health listener has them.
  if (config.SERVICE_ENV === 'sandbox') {
    endpoint(app, '/healthz', { get: [healthy] })
    endpoint(app, '/readyz', { get: [ready(runtime)] })
    endpoint(app, '/metrics', { get: [showMetrics(metrics)] })
  }
  app.use('/api', compress(), apiRouter({ runtime, daily }))
  app.use('/ops', compress(), opsRouter(runtime))
  app.use(docsRouter(runtime))
  const assets = await createAssets()
  app.use(PORTAL_PATH, portal({ runtime, assets }))
  app.use(pagesRouter({ runtime, assets }))
  app.use(unknownPath)
  app.use(errorAnswer)
  return app
}

interface PublicServer {
  server: Server
  /** Visitors who watch a remote browser through this process. */
  viewers(): number
  /** Sends them to another process. */
  stopViewers(): void
  /** Writes down what was counted of requests: after the last of them. */
  stopCounting(): Promise<void>
}

/** The listener with its bounds; not listening yet. */
export async function createServer(runtime: HttpRuntime): Promise<PublicServer> {
  const daily = createDailyCounter(runtime)
  const app = await createApplication(runtime, daily)
  const times = { headersTimeout: HEADERS_TIME_MS, requestTimeout: REQUEST_TIME_MS, keepAliveTimeout: KEEP_ALIVE_MS }
  const server = createHttpServer({ ...times, ...expressObjects(app) }, app)
  server.timeout = SILENT_MS
  server.maxHeadersCount = MOST_HEADERS
  server.maxConnections = MOST_CONNECTIONS
  const relay = attachStreamRelay({ server, runtime })
  return { server, viewers: relay.size, stopViewers: relay.stop, stopCounting: daily.stop }
}
