import { createHmac, timingSafeEqual } from 'node:crypto'

/** Tokens carry what they stand for, signed, so that sessions outlive a restart of the site. It guards nothing real. */
const KEY = 'sandbox-provider'

/** How far a login has come: the cookie exists from the password on, the session is usable when it is `complete`. */
export type LoginStage = 'code' | 'consent' | 'window' | 'complete'

export interface SessionToken {
  type: 'session'
  sessionId: string
  email: string
  stage: LoginStage
  /** When the password was given (ms). */
  at: number
  /** Counts the rotations of this session's cookie. */
  turn: number
  /** Makes the cookie as long as it has to be. */
  padding?: string
}

interface AccessToken {
  type: 'access'
  sessionId: string
  email: string
  generation: number
  expires: number
}

export function sign(token: SessionToken | AccessToken): string {
  const body = Buffer.from(JSON.stringify(token)).toString('base64url')
  return `${body}.${signature(body)}`
}

export function readSessionToken(text: string): SessionToken | null {
  const token = verify(text)
  return token?.type === 'session' ? token : null
}

export function readAccessToken(text: string): AccessToken | null {
  const token = verify(text)
  return token?.type === 'access' ? token : null
}

function verify(text: string): SessionToken | AccessToken | null {
  const [body = '', given = ''] = text.split('.')
  const wanted = Buffer.from(signature(body))
  if (wanted.length !== given.length || !timingSafeEqual(wanted, Buffer.from(given))) return null
  return JSON.parse(Buffer.from(body, 'base64url').toString('utf8'))
}

function signature(body: string): string {
  return createHmac('sha256', KEY).update(body).digest('base64url')
}
