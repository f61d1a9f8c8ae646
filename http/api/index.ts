import type { RequestHandler, Router } from 'express'
import type { DailyCounter } from '../../schemas/app/daily-count.ts'
import { apiEndpoints } from '../../wire/api-endpoints.ts'
import type { Endpoint } from '../../wire/endpoint.ts'
import { authenticate, authenticateLimited } from '../access/api-key.ts'
import { endpointRouter } from '../kit/endpoint-router.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { postConnectNative } from './connect-native.ts'
import { getConnections, getConnectionsOlder } from './connections.ts'
import { getConversations } from './conversations.ts'
import type { ApiHandler } from './handler.ts'
import { getIngestExport, postIngestExport } from './ingest-export.ts'
import { postPurge } from './purge.ts'
import { type ConnectionLister, createConnectionLister } from './user-connections.ts'

/** The partners' API (docs/behaviour.md, Endpoints). */
export function apiRouter({ runtime, daily }: { runtime: HttpRuntime; daily: DailyCounter }): Router {
  const lister = createConnectionLister(runtime)
  return endpointRouter({
    endpoints: apiEndpoints,
    under: '/api',
    runtime,
    guard: createGuard({ runtime, daily }),
    handlers: {
      listConnections: getConnections(lister),
      listConversations: eitherForm({ runtime, lister }),
      purge: postPurge(runtime),
      ingestExport: postIngestExport(runtime),
      getIngestion: getIngestExport,
      connectNative: postConnectNative(runtime),
    },
  })
}

/** One counter for all endpoints with a limit: requests that come together are counted together. */
function createGuard({
  runtime,
  daily,
}: {
  runtime: HttpRuntime
  daily: DailyCounter
}): (endpoint: Endpoint) => RequestHandler[] {
  const limited = authenticateLimited({ ...runtime, daily })
  const authenticated = authenticate(runtime)
  return ({ authentication, rateLimited }) => {
    if (authentication.by !== 'apiKey') return []
    return [rateLimited ? limited : authenticated]
  }
}

/** The query parameter tells the two forms of GET /api/conversations apart. */
function eitherForm({
  runtime,
  lister,
}: {
  runtime: HttpRuntime
  lister: ConnectionLister
}): ApiHandler<'listConversations'> {
  const conversations = getConversations(runtime)
  const older = getConnectionsOlder(lister)
  return (call) => {
    const { connectionId, userRef } = call.request.query
    return userRef !== undefined && connectionId === undefined ? older(call) : conversations(call)
  }
}
