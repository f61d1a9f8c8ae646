import type { Request, Response } from 'express'
import { type ConnectionsAnswer, connectionsQuery, RECENT_WINDOW_DAYS } from '../../wire/connections.ts'
import { callerOf } from '../access/api-key.ts'
import { parseInput } from '../kit/input.ts'
import { answerJson } from './answer.ts'
import type { ConnectionLister } from './user-connections.ts'

async function list(request: Request, lister: ConnectionLister) {
  const { userRef } = parseInput(connectionsQuery, request.query, { missing: { userRef: 'missing_user_ref' } })
  return { userRef, connections: await lister({ appId: callerOf(request).appId, userRef }) }
}

/** GET /api/connections: a user's connections and their status. */
export const getConnections =
  (lister: ConnectionLister) =>
  async (request: Request, response: Response): Promise<void> => {
    const { userRef, connections } = await list(request, lister)
    const answer: ConnectionsAnswer = {
      userRef,
      connected: connections.some(({ status }) => status === 'active'),
      needsReauth: connections.some(({ status }) => status === 'needs_reauth'),
      recentConversationCount: connections.reduce((sum, each) => sum + each.recentConversationCount, 0),
      recentWindowDays: RECENT_WINDOW_DAYS,
      connections,
    }
    answerJson(response, JSON.stringify(answer))
  }

/** GET /api/conversations?userRef=: the older form of the same listing. */
export const getConnectionsOlder =
  (lister: ConnectionLister) =>
  async (request: Request, response: Response): Promise<void> => {
    answerJson(response, JSON.stringify(await list(request, lister)))
  }
