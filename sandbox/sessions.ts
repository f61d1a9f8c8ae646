import { randomUUID } from 'node:crypto'
import type { Request, Response } from 'express'
import type { AccountState, SiteState } from './state.ts'
import { stateOf } from './state.ts'
import { type LoginStage, readSessionToken, type SessionToken, sign } from './tokens.ts'

const COOKIE_NAME = 'session-token'
const PART_BYTES = 3_800
const COOKIE_LIFETIME_S = 30 * 24 * 3600
/** docs/provider.md, Session says that parts come in; `chunked` has a cookie of 9 KB. */
const CHUNKED_BYTES = 9 * 1024
const EXPIRES_AFTER_MS = 2 * 60_000
const REFUSES_FOR_MS = 20_000

export interface Session {
  token: SessionToken
  state: AccountState
  /** Whether the API may be used: the login is complete and the provider does not hold back. */
  usable: boolean
}

/** The session of a request's cookies, or null where there is none or it has ended. */
export function sessionOf(site: SiteState, request: Request): Session | null {
  const token = readSessionToken(readCookie(request))
  const state = token && stateOf(site, token.email)
  if (!token || !state || token.at <= state.endedAt) return null
  const age = site.now() - token.at
  if (age > COOKIE_LIFETIME_S * 1000) return null
  if (state.account.kind === 'expires' && age > EXPIRES_AFTER_MS) return null
  // The previous cookie still works, for calls that were on their way; one before that has been lost and is over.
  const newest = Math.max(state.turns.get(token.sessionId) ?? 0, token.turn)
  state.turns.set(token.sessionId, newest)
  if (token.turn < newest - 1) return null
  const refused = state.account.kind === 'refuses' && age < REFUSES_FOR_MS
  return { token, state, usable: token.stage === 'complete' && !refused }
}

/** Begins a session after the password, in the stage that the account asks for. */
export function beginSession(site: SiteState, response: Response, state: AccountState, stage: LoginStage): void {
  const at = Math.max(site.now(), state.endedAt + 1)
  const { email } = state.account
  setCookie(response, state, { type: 'session', sessionId: randomUUID(), email, stage, at, turn: 0 })
}

export function advanceSession({ token, state }: Session, response: Response, stage: LoginStage): void {
  setCookie(response, state, { ...token, stage })
}

/** Gives the session a new cookie; the one before the last stops working. */
export function rotateSession({ token, state }: Session, response: Response): void {
  const turn = (state.turns.get(token.sessionId) ?? token.turn) + 1
  state.turns.set(token.sessionId, turn)
  setCookie(response, state, { ...token, turn })
}

export function clearSession(response: Response): void {
  for (const name of [COOKIE_NAME, ...[0, 1, 2].map((part) => `${COOKIE_NAME}.${part}`)]) append(response, name, '', 0)
}

function setCookie(response: Response, state: AccountState, token: SessionToken): void {
  if (state.account.kind !== 'chunked') {
    append(response, COOKIE_NAME, sign(token), COOKIE_LIFETIME_S)
    return
  }
  const bare = sign({ ...token, padding: '' }).length
  const value = sign({ ...token, padding: 'x'.repeat(Math.floor(((CHUNKED_BYTES - bare) * 3) / 4)) })
  for (let part = 0; part * PART_BYTES < value.length; part++) {
    const piece = value.slice(part * PART_BYTES, (part + 1) * PART_BYTES)
    append(response, `${COOKIE_NAME}.${part}`, piece, COOKIE_LIFETIME_S)
  }
}

function append(response: Response, name: string, value: string, maxAge: number): void {
  response.append('Set-Cookie', `${name}=${value}; Path=/; HttpOnly; SameSite=Lax; Max-Age=${maxAge}`)
}

function readCookie(request: Request): string {
  const pairs = (request.headers.cookie ?? '').split('; ').map((pair): [string, string] => {
    const equals = pair.indexOf('=')
    return [pair.slice(0, equals), pair.slice(equals + 1)]
  })
  const jar = new Map(pairs)
  const whole = jar.get(COOKIE_NAME)
  if (whole) return whole
  let joined = ''
  for (let part = 0; jar.has(`${COOKIE_NAME}.${part}`); part++) joined += jar.get(`${COOKIE_NAME}.${part}`)
  return joined
}
