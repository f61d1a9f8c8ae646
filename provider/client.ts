import type { Dispatcher } from 'undici'
import type { Clock } from '../core/clock.ts'
import {
  type ListPage,
  readConversation,
  readDownloadUrl,
  readList,
  readSession,
  type SessionCheck,
} from './answers.ts'
import { createCaller } from './caller.ts'
import { applySetCookies, isCookieValue } from './cookie.ts'
import { downloadFile, type FileAnswer } from './download.ts'
import { ProviderContractError, ProviderUnavailableError, SessionEndedError } from './errors.ts'
import type { ProviderProfile } from './profile.ts'
import type { ProviderAnswer } from './request.ts'
import type { JsonObject } from './values.ts'

export type { ListItem, ListPage } from './answers.ts'
export type { FileAnswer } from './download.ts'

/** What lets the service read an account: the session cookie's whole value and the newest access token made of it. */
export interface Credential {
  cookie: string
  accessToken?: string
}

export interface ProviderClientOptions {
  profile: ProviderProfile
  credential: Credential
  clock: Clock
  /** Ends every wait, and requests under way soon: an answer on its way may bring a new cookie. The calls then throw its reason. */
  signal?: AbortSignal
  /** Awaited before each request, a repeated one too: the place to hold the account's rate. */
  pace?: () => Promise<void>
  /**
   * Called with every new credential before the answer that brought it is used, one call at a time. Losing one would end
   * the session, so it has to be stored; what it throws is thrown by the call.
   */
  onRotate?: (credential: Credential) => Promise<void>
  /** Instead of the time limit (ms, machine time) of each kind of request. */
  timeoutMs?: number
  /** Instead of the process's own connections to configured hosts. */
  dispatcher?: Dispatcher
}

interface ConversationAnswer extends Pick<ProviderAnswer, 'body' | 'gzipped' | 'release'> {
  raw: JsonObject
}

/**
 * Every method may throw `ProviderUnavailableError` (after repeating with back-off), `ProviderRateLimitedError` (at once),
 * `ProviderContractError`; all but `session` also `SessionEndedError`.
 */
export interface ProviderClient {
  /** The newest credential. */
  credential(): Credential
  /** Asks `sessionUrl` whether the session is usable, and for its access token and account. */
  session(): Promise<SessionCheck>
  /** One page of the conversations, newest update first. */
  list(options: { offset: number }): Promise<ListPage>
  /** The provider's own object, or null when the provider has none of that id (any more). */
  conversation(id: string): Promise<JsonObject | null>
  /** The same beside the bytes that it came in, also as the provider compressed them, where it did. To be released. */
  conversationAnswer(id: string): Promise<ConversationAnswer | null>
  /** A file's bytes, to be released, or null for one that is gone. */
  file(fileId: string, options: { maxBytes: number }): Promise<FileAnswer | null>
}

/** Reads one account of a provider as docs/provider.md, Session and Conversations say: cookies that rotate, access tokens that run out, refusals that pass. */
export function createProviderClient(options: ProviderClientOptions): ProviderClient {
  const { profile, clock, signal, onRotate } = options
  let credential: Credential = options.credential
  let stored: Promise<void> = Promise.resolve()
  let checking: Promise<SessionCheck> | null = null
  let rotates = false
  const call = createCaller({
    ...options,
    cookie: () => credential.cookie,
    rotates: () => rotates,
    onAnswer: takeCookies,
  })

  async function replaceCredential(next: Credential): Promise<void> {
    credential = next
    if (!onRotate) return
    // In a row, each with what is newest by then: two at a time could end with the older one stored.
    const mine = stored.then(() => onRotate(credential))
    stored = mine.catch(() => {})
    await mine
  }

  async function takeCookies({ headers }: ProviderAnswer): Promise<void> {
    const { cookieName: name } = profile
    const setCookies = headers.getSetCookie()
    const cookie = applySetCookies({ name, current: credential.cookie, setCookies, now: clock.now() })
    if (cookie === credential.cookie) return
    rotates = true
    await replaceCredential({ ...credential, cookie })
  }

  async function askSession(): Promise<SessionCheck> {
    if (!isCookieValue(credential.cookie)) return { usable: false, reason: 'The session cookie is no cookie value' }
    const check = await taken(call({ kind: 'session', url: profile.sessionUrl }), readSession)
    if (check.usable && check.accessToken !== credential.accessToken) {
      await replaceCredential({ ...credential, accessToken: check.accessToken })
    }
    return check
  }

  /** Calls that find the token run out at the same time share one session call. */
  function session(): Promise<SessionCheck> {
    checking ??= askSession().finally(() => {
      checking = null
    })
    return checking
  }

  async function renewedToken(): Promise<string> {
    const check = await session()
    if (check.usable) return check.accessToken
    throw new SessionEndedError(`The provider has ended the session: ${check.reason}`)
  }

  /** One 401 is not the end of a session: the session call decides. */
  async function api(kind: 'list' | 'conversation' | 'file', path: string): Promise<ProviderAnswer> {
    const url = `${profile.apiBaseUrl}/${path}`
    const token = credential.accessToken ?? (await renewedToken())
    const answer = await call({ kind, url, accessToken: token })
    if (answer.status !== 401) return answer
    answer.release()
    const known = credential.accessToken
    const newer = known !== undefined && known !== token ? known : await renewedToken()
    const again = await call({ kind, url, accessToken: newer })
    if (again.status !== 401) return again
    again.release()
    throw new ProviderUnavailableError(`The provider refuses the ${kind} call of a session that it calls usable`)
  }

  async function conversationAnswer(id: string): Promise<ConversationAnswer | null> {
    const answer = await api('conversation', `conversation/${pathSegment(id)}`)
    let raw: JsonObject | null = null
    try {
      raw = readConversation(answer, id)
    } finally {
      if (!raw) answer.release()
    }
    return raw && { ...answer, raw }
  }

  return {
    credential: () => credential,
    session,
    list: async ({ offset }) => {
      const limit = profile.pageSize
      const asked = api('list', `conversations?offset=${offset}&limit=${limit}&order=updated`)
      return taken(asked, (answer) => readList(answer, { offset, limit }))
    },
    conversation: async (id) => {
      const answer = await conversationAnswer(id)
      answer?.release()
      return answer?.raw ?? null
    },
    conversationAnswer,
    file: async (fileId, { maxBytes }) => {
      const asked = api('file', `files/${pathSegment(fileId)}/download`)
      const url = await taken(asked, (answer) => readDownloadUrl(answer, profile.apiBaseUrl))
      if (url === null) return null
      const { pace, timeoutMs, dispatcher } = options
      return downloadFile({ url, profile, maxBytes, clock, signal, pace, timeoutMs, dispatcher })
    },
  }
}

/** What is read of an answer that is needed no longer. */
async function taken<T>(asked: Promise<ProviderAnswer>, read: (answer: ProviderAnswer) => T): Promise<T> {
  const answer = await asked
  try {
    return read(answer)
  } finally {
    answer.release()
  }
}

/** One segment of a path, whatever the provider chose as an id; a dot segment would leave the path and is refused. */
function pathSegment(id: string): string {
  try {
    if (!/^\.{0,2}$/.test(id)) return encodeURIComponent(id)
  } catch {
    // A lone surrogate has no encoding.
  }
  throw new ProviderContractError('The provider uses an id that no path can hold')
}
