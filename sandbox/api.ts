import { type Request, type Response, Router } from 'express'
import { fileOf } from './branches-files.ts'
import { misbehave, pauseOf } from './faults.ts'
import { rotateSession, type Session, sessionOf } from './sessions.ts'
import { type AccountState, conversationOf, listOf, type SiteState } from './state.ts'
import { readAccessToken, sign } from './tokens.ts'

const ACCESS_TOKEN_LIFETIME_MS = 3600_000
const SESSION_LIFETIME_MS = 30 * 24 * 3600_000
const CHUNKED_ROTATES_EVERY = 3
const MOST_PER_PAGE = 100
const MOST_LOG_ENTRIES = 20_000

type Call = 'session' | 'list' | 'conversation' | 'file'

/** The calls of a provider (docs/provider.md, Session and Conversations). */
export function apiRoutes(site: SiteState): Router {
  const router = Router()

  /** What every call goes through: log, faults, rotation, then the answer. */
  const call = (kind: Call, answer: (session: Session | null, request: Request, response: Response) => void) => {
    return (request: Request, response: Response): void => {
      const session = sessionOf(site, request)
      record(site, session?.state ?? null, request, response)
      if (misbehave(site, session, request, response)) return
      if (session) {
        session.state.calls[kind]++
        if (rotates(session.state)) rotateSession(session, response)
      }
      response.set('Cache-Control', 'no-store')
      answer(session, request, response)
    }
  }
  /** A call of the API proper: it needs the cookie and an access token of the same session, and may be rate-limited. */
  const apiCall = (kind: Call, answer: (state: AccountState, request: Request, response: Response) => void) =>
    call(kind, (session, request, response) => {
      if (!session?.usable || !accepts(site, session, request)) {
        response.status(401).json({ detail: 'Unauthorized' })
        return
      }
      const pause = pauseOf(site, session.state)
      if (pause === null) return answer(session.state, request, response)
      session.state.calls.refused++
      if (pause.retryAfter !== null) response.set('Retry-After', pause.retryAfter)
      response.status(429).json({ detail: 'Too many requests' })
    })

  router.get(
    '/api/auth/session',
    call('session', (session, _, response) => {
      response.json(session?.usable ? sessionAnswer(site, session) : {})
    }),
  )

  router.get(
    '/backend-api/conversations',
    apiCall('list', (state, request, response) => {
      const all = listOf(site, state)
      const offset = Math.max(0, Math.trunc(Number(request.query['offset'] ?? 0)) || 0)
      const limit = Math.min(MOST_PER_PAGE, Math.max(1, Math.trunc(Number(request.query['limit'] ?? 28)) || 28))
      const items = all.slice(offset, offset + limit).map(({ id, title, create_time, update_time }) => ({
        id,
        title,
        create_time: iso(create_time),
        update_time: iso(update_time),
      }))
      response.json({ items, total: all.length, limit, offset })
    }),
  )

  router.get(
    '/backend-api/conversation/:id',
    apiCall('conversation', (state, request, response) => {
      const raw = conversationOf(site, state, String(request.params['id']))
      if (raw) response.json(raw)
      else response.status(404).json({ detail: 'Conversation not found' })
    }),
  )

  router.get(
    '/backend-api/files/:id/download',
    apiCall('file', (_, request, response) => {
      const id = String(request.params['id'])
      if (fileOf(id)) response.json({ download_url: `http://${request.headers.host}/files/${encodeURIComponent(id)}` })
      else response.status(404).json({ detail: 'File not found' })
    }),
  )

  // Credentials do not belong here: whoever sends them is told.
  router.get('/files/:id', (request, response) => {
    record(site, null, request, response)
    if (misbehave(site, null, request, response)) return
    const file = fileOf(String(request.params['id']))
    if (request.headers.cookie || request.headers.authorization)
      response.status(400).json({ detail: 'Send no credentials' })
    else if (file) response.type(file.type).send(file.bytes)
    else response.status(404).json({ detail: 'File not found' })
  })
  return router
}

function sessionAnswer(site: SiteState, { token, state }: Session) {
  const { account, tokenGeneration } = state
  const expires = site.now() + ACCESS_TOKEN_LIFETIME_MS
  const { sessionId, email } = token
  return {
    accessToken: sign({ type: 'access', sessionId, email, generation: tokenGeneration, expires }),
    expires: new Date(token.at + SESSION_LIFETIME_MS).toISOString(),
    user: { id: account.id, email: account.email, name: account.name },
  }
}

function accepts(site: SiteState, { token, state }: Session, request: Request): boolean {
  const [, text = ''] = /^Bearer (\S+)$/.exec(request.headers.authorization ?? '') ?? []
  const access = readAccessToken(text)
  return (
    access !== null &&
    access.sessionId === token.sessionId &&
    access.generation === state.tokenGeneration &&
    access.expires > site.now()
  )
}

function rotates(state: AccountState): boolean {
  const { session, list, conversation, file } = state.calls
  const asked = state.rotateNext
  state.rotateNext = false
  return (
    asked || (state.account.kind === 'chunked' && (session + list + conversation + file) % CHUNKED_ROTATES_EVERY === 0)
  )
}

function record(site: SiteState, state: AccountState | null, request: Request, response: Response): void {
  const entry = {
    at: new Date(site.now()).toISOString(),
    email: state?.account.email ?? null,
    method: request.method,
    path: request.originalUrl,
    status: 0,
  }
  site.log.push(entry)
  if (site.log.length > MOST_LOG_ENTRIES) site.log.splice(0, MOST_LOG_ENTRIES / 2)
  response.on('finish', () => {
    entry.status = response.statusCode
  })
}

/** Microseconds, as the provider writes them. */
function iso(seconds: number): string {
  const micros = Math.round((seconds % 1) * 1e6)
  return `${new Date(Math.trunc(seconds) * 1000).toISOString().slice(0, 19)}.${String(micros).padStart(6, '0')}Z`
}
