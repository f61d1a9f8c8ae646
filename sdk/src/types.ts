/**
 * The resources of the API as they come over the wire.
 *
 * The API only grows: answers may carry fields that are not named here, and the code of this package neither refuses nor
 * removes them. Strings that the service may extend are typed as "these, or another string".
 */

type Extensible<Known extends string> = Known | (string & Record<never, never>)

export type ConnectionStatus = 'active' | 'needs_reauth' | 'revoked'

export type Connection = {
  /** UUID; changes when the user reconnects. */
  id: string
  /** Provider identifier of the connected account. */
  provider: string
  status: ConnectionStatus
  /** ISO 8601; when the user completed the connect flow. */
  capturedAt: string
  /** ISO 8601; the last successful sync, null before the first. */
  lastSyncAt: string | null
  conversationCount: number
  /** Conversations whose first message is dated within the last `recentWindowDays`. */
  recentConversationCount: number
  /** Stable for one provider account within one app. */
  accountId: string
}

/** Answer of `GET /api/connections`. */
export type UserConnections = {
  userRef: string
  /** True when at least one connection is `active`. */
  connected: boolean
  /** True when at least one connection is `needs_reauth`: the user should be sent a new connect link. */
  needsReauth: boolean
  recentConversationCount: number
  recentWindowDays: number
  /** Newest first. */
  connections: Connection[]
}

export type Attachment = {
  type?: string
  asset_pointer?: string
  name?: string
  size_bytes?: number
  width?: number
  height?: number
}

export type Message = {
  role: Extensible<'user' | 'assistant' | 'tool'>
  /** Empty when the message only carries attachments. */
  content: string
  /** ISO 8601, or null when the provider gave none. */
  timestamp: string | null
  id?: string
  contentType?: Extensible<'text' | 'multimodal_text' | 'code'>
  model?: string
  status?: string
  endTurn?: boolean
  /** Metadata only; the files cannot be retrieved. */
  attachments?: Attachment[]
  /** Citations in an assistant's answer, as the provider gives them. */
  contentReferences?: unknown[]
}

export type ConversationPayload = {
  title: string | null
  /** The current branch in chronological order. */
  messages: Message[]
}

export type Conversation = {
  id: string
  /** The provider's own conversation id. */
  external_id: string
  title: string | null
  payload: ConversationPayload | null
  /** ISO 8601; the last change on the provider's side. */
  update_time: string | null
}

/** Answer of `GET /api/conversations`: newest `update_time` first. */
export type ConversationPage = {
  conversations: Conversation[]
  /** All conversations of the connection. */
  total: number
  limit: number
  offset: number
  /** Cursor of the next page, null on the last one. */
  nextCursor?: string | null
}

/** Answer of `POST /api/purge`. Repeating a purge succeeds with zero counts. */
export type PurgeResult = {
  ok: true
  connectionsRevoked: number
  conversationsDeleted: number
  /** ISO 8601. */
  deletedAt: string
}

/** Answer of `POST /api/ingest-export`. `total` is the sum of the other three. */
export type IngestResult = {
  ok: true
  ingestId: string
  connectionId: string
  inserted: number
  updated: number
  unchanged: number
  total: number
}
