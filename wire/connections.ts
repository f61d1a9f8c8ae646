import { z } from 'zod'
import { text, USER_REF_LENGTH } from './text.ts'

const time = z.iso.datetime()
const count = z.number().int().min(0)

/** `recentWindowDays` (docs/behaviour.md, Limits). */
export const RECENT_WINDOW_DAYS = 30

/** GET /api/connections */
export const connectionsQuery = z.object({
  userRef: text(USER_REF_LENGTH).describe('The app’s own name of the user'),
})

/** docs/behaviour.md, Connection */
const connectionShape = z.object({
  id: z.uuid().describe('Changes when the user reconnects'),
  provider: z.string(),
  status: z.enum(['active', 'needs_reauth', 'revoked']),
  capturedAt: time.describe('When the user completed the connect flow'),
  lastSyncAt: time.nullable().describe('Last time the session was verified; null before the first sync'),
  conversationCount: count,
  recentConversationCount: count,
  accountId: z.string().describe('Stable for one provider account within one app'),
})

/** 200 of GET /api/connections */
export const connectionsAnswer = z.object({
  userRef: z.string(),
  connected: z.boolean().describe('At least one connection is active'),
  needsReauth: z.boolean().describe('At least one connection needs the user to connect again'),
  recentConversationCount: count,
  recentWindowDays: z.literal(RECENT_WINDOW_DAYS),
  connections: z.array(connectionShape).describe('Newest capture first'),
})

/** 200 of GET /api/conversations?userRef=, the older form of the connections listing */
export const olderConnectionsAnswer = z.object({ userRef: z.string(), connections: z.array(connectionShape) })

export type ConnectionView = z.infer<typeof connectionShape>
export type ConnectionsAnswer = z.infer<typeof connectionsAnswer>
