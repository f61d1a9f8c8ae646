import { Router } from 'express'
import { opsEndpoints } from '../../wire/ops-endpoints.ts'
import { operatorOnly, roleAtLeast } from '../access/operator.ts'
import { endpointRouter } from '../kit/endpoint-router.ts'
import type { HttpRuntime } from '../kit/runtime.ts'
import { actorHandlers } from './actors.ts'
import { appHandlers } from './apps.ts'
import { commandHandlers } from './commands.ts'
import { connectionHandlers } from './connections.ts'
import { deliveryHandlers } from './deliveries.ts'
import { keyHandlers } from './keys.ts'
import { leaseHandlers } from './leases.ts'
import { mailHandlers } from './mails.ts'
import { overviewHandlers } from './overview.ts'
import { purgeHandlers } from './purge.ts'

/** What operators see and do (docs/behaviour.md, Operators). No answer holds a conversation's text or a credential. */
export function opsRouter(runtime: HttpRuntime): Router {
  const { clock, config } = runtime
  const router = Router()
  // Before the routes: whoever is no operator does not learn which there are.
  router.use(operatorOnly({ operatorKey: config.OPERATOR_KEY, clock }))
  router.use(
    endpointRouter({
      endpoints: opsEndpoints,
      under: '/ops',
      exact: true,
      runtime,
      guard: ({ authentication }) => (authentication.by === 'operatorKey' ? [roleAtLeast(authentication.least)] : []),
      handlers: {
        ...overviewHandlers(runtime),
        ...actorHandlers(runtime),
        ...connectionHandlers(runtime),
        ...leaseHandlers(runtime),
        ...deliveryHandlers(runtime),
        ...commandHandlers(runtime),
        ...appHandlers(runtime),
        ...keyHandlers(runtime),
        ...mailHandlers(runtime),
        ...purgeHandlers(runtime),
      },
    }),
  )
  return router
}
