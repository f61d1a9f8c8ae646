import { type RequestHandler, Router } from 'express'
import { authenticate, authenticateLimited } from '../access/api-key.ts'
import { deadline } from '../kit/deadline.ts'
import { endpoint } from '../kit/endpoint.ts'
import { jsonBody } from '../kit/json-body.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { postConnectNative } from './connect-native.ts'
import { getConnections, getConnectionsOlder } from './connections.ts'
import { getConversations } from './conversations.ts'
import { getIngestExport, postIngestExport } from './ingest-export.ts'
import { postPurge } from './purge.ts'
import { type ConnectionLister, createConnectionLister } from './user-connections.ts'

/** The partners' API (docs/behaviour.md, Endpoints). The rate limit is that of the GET endpoints: reading never holds up a deletion. */
export function apiRouter(runtime: HttpRuntime): Router {
  const { clock } = runtime
  const router = Router()
  const lister = createConnectionLister({ clock })
  const soon = deadline({ clock })
  const limited = [soon, authenticateLimited({ clock })]
  const authenticated = authenticate({ clock })
  endpoint(router, '/connections', { get: [...limited, getConnections(lister)] })
  endpoint(router, '/conversations', { get: [...limited, eitherForm({ runtime, lister })] })
  endpoint(router, '/purge', { post: [authenticated, ...jsonBody({ clock }), postPurge(runtime)] })
  endpoint(router, '/connect-native', { post: [...jsonBody({ clock }), postConnectNative(runtime)] })
  endpoint(router, '/ingest-export', { post: [authenticated, postIngestExport(runtime)] })
  endpoint(router, '/ingest-export/:ingestId', { get: [...limited, getIngestExport] })
  return router
}

/** The query parameter tells the two forms of GET /api/conversations apart. */
function eitherForm({ runtime, lister }: { runtime: HttpRuntime; lister: ConnectionLister }): RequestHandler {
  const conversations = getConversations(runtime)
  const older = getConnectionsOlder(lister)
  return (request, response) => {
    const { connectionId, userRef } = request.query
    return userRef !== undefined && connectionId === undefined
      ? older(request, response)
      : conversations(request, response)
  }
}
