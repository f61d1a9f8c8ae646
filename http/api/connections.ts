import type { Request } from 'express'
import { type ConnectionsAnswer, connectionsQuery, RECENT_WINDOW_DAYS } from '../../wire/connections.ts'
import { callerOf } from '../access/api-key.ts'
import { SENT } from '../kit/endpoint-router.ts'
import { parseInput } from '../kit/input.ts'
import { answerJson } from './answer.ts'
import type { ApiHandler } from './handler.ts'
import type { ConnectionLister } from './user-connections.ts'

const list = async (request: Request, { userRef }: { userRef: string }, lister: ConnectionLister) => ({
  userRef,
  connections: await lister({ appId: callerOf(request).appId, userRef }),
})

/** GET /api/connections: a user's connections and their status. */
export const getConnections =
  (lister: ConnectionLister): ApiHandler<'listConnections'> =>
  async ({ request, response, query }) => {
    const { userRef, connections } = await list(request, query, lister)
    const answer: ConnectionsAnswer = {
      userRef,
      connected: connections.some(({ status }) => status === 'active'),
      needsReauth: connections.some(({ status }) => status === 'needs_reauth'),
      recentConversationCount: connections.reduce((sum, each) => sum + each.recentConversationCount, 0),
      recentWindowDays: RECENT_WINDOW_DAYS,
      connections,
    }
    answerJson(response, JSON.stringify(answer))
    return SENT
  }

/** GET /api/conversations?userRef=: the older form of the same listing. */
export const getConnectionsOlder =
  (lister: ConnectionLister): ApiHandler<'listConversations'> =>
  async ({ request, response }) => {
    const query = parseInput(connectionsQuery, request.query, { missing: { userRef: 'missing_user_ref' } })
    answerJson(response, JSON.stringify(await list(request, query, lister)))
    return SENT
  }
