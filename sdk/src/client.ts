import { awaitIngest } from './await-ingest.ts'
import { eachPage } from './each-conversation.ts'
import { type ExportFile, exportBody } from './export-body.ts'
import { isHttpUrl } from './http-url.ts'
import { type Answer, type CallOptions, send } from './request.ts'
import { type Repeatable, wait, withRetries } from './retry.ts'
import type { Conversation, ConversationPage, IngestResult, PurgeResult, UserConnections } from './types.ts'

export type ClientOptions = {
  /** Base address of the environment, for example `https://connect.example.com`. */
  baseUrl: string
  /** Keep it on your server. */
  apiKey: string
  /** Needed for `purge` only. */
  appId?: string
  /** Default is the built-in one; give your own to go through a proxy or to set other network timeouts. */
  fetch?: typeof globalThis.fetch
  /** Attempts in total for a call that may be repeated; default 5. */
  maxAttempts?: number
  /** For one attempt, default 30,000, at most 2,147,483,647 (24 days); uploads of exports are not limited by it. */
  timeoutMs?: number
  /** How to wait between attempts; default is a timer. */
  wait?: (milliseconds: number, signal?: AbortSignal) => Promise<void>
}

export type Cancellable = { signal?: AbortSignal }

export type ConversationsOptions = Cancellable & {
  connectionId: string
  /** Default 50, at most 100. */
  limit?: number
  /** Default 0; not together with `cursor`. */
  offset?: number
  /** `nextCursor` of the page before: stable while a sync writes. */
  cursor?: string
  /** Only conversations that changed after this moment: ISO 8601 or a Date. */
  updatedAfter?: string | Date
}

export type EachOptions = Cancellable & {
  /** Conversations a call; default and maximum 100. */
  limit?: number
  updatedAfter?: string | Date
}

type UserOrConnection = { userRef: string; connectionId?: never } | { connectionId: string; userRef?: never }

export type PurgeTarget = UserOrConnection

export type IngestOptions = Cancellable &
  UserOrConnection & {
    file: ExportFile
    /** `application/zip` or `application/json`; default is the Blob's type, or what the first byte gives away. */
    contentType?: string
  }

export type Client = {
  /** A user's connections, newest first. 404 `User not found` until the user has opened a first link. */
  connections(userRef: string, options?: Cancellable): Promise<UserConnections>
  /** One page of a connection's conversations, newest `update_time` first. */
  conversations(options: ConversationsOptions): Promise<ConversationPage>
  /** All conversations of a connection, page by page as you read on; bulk reads are spread over the rate window. */
  eachConversation(connectionId: string, options?: EachOptions): AsyncGenerator<Conversation, void, undefined>
  /** Deletes the data of a user or of one connection, at once and for good. Repeating it answers zero counts. */
  purge(target: PurgeTarget, options?: Cancellable): Promise<PurgeResult>
  /**
   * Ingests a provider's export for a user or a connection, and waits until all of it is in. The upload is repeated only
   * when the API refused it with 429.
   */
  ingestExport(options: IngestOptions): Promise<IngestResult>
}

/** Of a timer: a longer one ends at once. */
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

function checkOptions({ baseUrl, apiKey, maxAttempts = 1, timeoutMs = 1 }: ClientOptions) {
  if (!isHttpUrl(baseUrl)) throw new TypeError('createClient: baseUrl must be an http or https address')
  if (typeof apiKey !== 'string' || apiKey === '')
    throw new TypeError('createClient: apiKey must be a non-empty string')
  if (!(maxAttempts >= 1)) throw new TypeError('createClient: maxAttempts must be 1 or more')
  if (!(timeoutMs >= 1 && timeoutMs <= LONGEST_TIMEOUT_MS))
    throw new TypeError(`createClient: timeoutMs must be between 1 and ${LONGEST_TIMEOUT_MS}`)
}

const isoTime = (moment: string | Date | undefined) => (moment instanceof Date ? moment.toISOString() : moment)

/**
 * A client of the API for your server. Calls that may be repeated wait out 429 (`Retry-After`) and back off on 5xx and
 * network failures (1 s, 2 s, 4 s, … up to a minute), `maxAttempts` in total. Every failure is a `CcsError`.
 *
 * @throws TypeError when an option is unusable
 */
export function createClient(options: ClientOptions): Client {
  checkOptions(options)
  const { baseUrl, apiKey, appId, maxAttempts = 5, timeoutMs = 30_000 } = options
  const transport = { baseUrl, apiKey, fetch: options.fetch ?? globalThis.fetch }
  const pause = options.wait ?? wait

  const call = (request: CallOptions, repeatable: Repeatable = 'always'): Promise<Answer> =>
    withRetries(() => send(transport, request), { maxAttempts, repeatable, wait: pause, signal: request.signal })

  const listPage = ({ signal, updatedAfter, ...query }: ConversationsOptions) =>
    call({
      method: 'GET',
      path: '/api/conversations',
      query: { ...query, updatedAfter: isoTime(updatedAfter) },
      timeoutMs,
      signal,
    })

  return {
    async connections(userRef, { signal } = {}) {
      const answer = await call({ method: 'GET', path: '/api/connections', query: { userRef }, timeoutMs, signal })
      return answer.body as UserConnections
    },
    async conversations(query) {
      return (await listPage(query)).body as ConversationPage
    },
    async *eachConversation(connectionId, { limit = 100, ...rest } = {}) {
      const read = (position: { cursor?: string; offset?: number }) =>
        listPage({ connectionId, limit, ...rest, ...position })
      for await (const page of eachPage({ read, wait: pause, signal: rest.signal })) yield* page.conversations
    },
    async purge(target, { signal } = {}) {
      if (appId === undefined) throw new TypeError('purge: the client was created without an appId')
      const { userRef, connectionId } = target
      const body = JSON.stringify({ appId, userRef, connectionId })
      const contentType = 'application/json'
      const answer = await call({ method: 'POST', path: '/api/purge', body, contentType, timeoutMs, signal })
      return answer.body as PurgeResult
    },
    async ingestExport({ userRef, connectionId, file, contentType, signal }) {
      const { repeatable, ...body } = exportBody(file, contentType)
      const query = { userRef, connectionId }
      const answer = await call({ method: 'POST', path: '/api/ingest-export', query, ...body, signal }, repeatable)
      const ask = (path: string) => call({ method: 'GET', path, timeoutMs, signal })
      return awaitIngest({ answer, ask, wait: pause, signal })
    },
  }
}
