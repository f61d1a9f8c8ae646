import type { Request, Response } from 'express'
import type { Session } from './sessions.ts'
import type { AccountState, Fault, SiteState } from './state.ts'

/** Carries out the fault that was ordered for this call, if any; true when the call has been dealt with. */
export function misbehave(site: SiteState, session: Session | null, request: Request, response: Response): boolean {
  const email = session?.state.account.email ?? null
  const fault = site.faults.find((each) => applies(each, email, request.originalUrl))
  if (fault === undefined) return false
  fault.count--
  if (fault.count <= 0) site.faults.splice(site.faults.indexOf(fault), 1)
  switch (fault.mode) {
    case 'hang':
      return true
    case 'reset':
      request.socket.resetAndDestroy()
      return true
    case 'garbage':
      response.type('html').send('<html>Sorry, something went wrong.</html>')
      return true
    case 'truncate':
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '1000' })
      response.write('{"items": [', () => request.socket.destroy())
      return true
    case 'status':
      if (fault.retryAfter !== null) response.set('Retry-After', fault.retryAfter)
      response.status(fault.status).json({ detail: 'Failed as ordered' })
      return true
  }
}

/** Counts a call against the account's rate limit; what to answer while it pauses, or null where the call passes. */
export function pauseOf(site: SiteState, state: AccountState): { retryAfter: string | null } | null {
  const { limit } = state
  if (limit === null) return null
  const now = site.now()
  if (now >= state.blockedUntil) {
    if (state.callsSincePause < limit.after) {
      state.callsSincePause++
      return null
    }
    state.blockedUntil = now + limit.blockMs
    // The pause over, counting starts anew.
    state.callsSincePause = 0
  }
  if (limit.form === 'none') return { retryAfter: null }
  if (limit.form === 'seconds') return { retryAfter: String(limit.retryAfterSeconds) }
  return { retryAfter: new Date(now + limit.retryAfterSeconds * 1000).toUTCString() }
}

function applies({ email, path }: Fault, callEmail: string | null, callPath: string): boolean {
  return (email === null || email === callEmail) && (path === null || callPath.includes(path))
}
