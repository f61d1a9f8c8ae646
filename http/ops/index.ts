import { Router } from 'express'
import { OPERATOR, operatorOnly } from '../access/operator.ts'
import { purge } from '../actions/purge.ts'
import { readPurge } from '../api/purge.ts'
import { goneSignal } from '../kit/abort-signal.ts'
import { deadline } from '../kit/deadline.ts'
import { endpoint } from '../kit/endpoint.ts'
import { jsonBody } from '../kit/json-body.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { getActors } from './actors.ts'
import { listApps, patchApp, postApp, postTestEvent } from './apps.ts'
import { listAudit, listCommands } from './commands.ts'
import { listConnections, postSync } from './connections.ts'
import { listDeliveries, postRetry, postRetrySince } from './deliveries.ts'
import { listLeases, postRelease } from './leases.ts'
import { getOverview } from './overview.ts'

/** What operators see and do (docs/behaviour.md, Operators). No answer holds a conversation's text, a credential or a key. */
export function opsRouter(runtime: HttpRuntime): Router {
  const { clock, config } = runtime
  const router = Router()
  router.use(operatorOnly({ operatorKey: config.OPERATOR_KEY }))
  const soon = deadline({ clock })
  const body = jsonBody({ clock })
  endpoint(router, '/overview', { get: [soon, getOverview(runtime)] })
  endpoint(router, '/actors', { get: [soon, getActors(runtime)] })
  endpoint(router, '/connections', { get: [soon, listConnections] })
  endpoint(router, '/connections/:id/sync', { post: [postSync(runtime)] })
  endpoint(router, '/leases', { get: [soon, listLeases] })
  endpoint(router, '/leases/:id/release', { post: [soon, postRelease(runtime)] })
  endpoint(router, '/deliveries', { get: [soon, listDeliveries] })
  endpoint(router, '/deliveries/retry', {
    post: [...jsonBody({ clock, optional: true }), soon, postRetrySince(runtime)],
  })
  endpoint(router, '/deliveries/:id/retry', { post: [soon, postRetry(runtime)] })
  endpoint(router, '/commands', { get: [soon, listCommands] })
  endpoint(router, '/audit', { get: [soon, listAudit] })
  endpoint(router, '/apps', { get: [soon, listApps], post: [...body, soon, postApp(runtime)] })
  endpoint(router, '/apps/:appId', { patch: [...body, soon, patchApp(runtime)] })
  endpoint(router, '/apps/:appId/test-event', { post: [postTestEvent(runtime)] })
  endpoint(router, '/purge', {
    post: [
      ...body,
      async (request, response) => {
        const { appId, target } = readPurge(request.body)
        const result = await purge({ appId, target, by: OPERATOR, runtime, signal: goneSignal(response) })
        response.json({ ok: true, ...result })
      },
    ],
  })
  return router
}
