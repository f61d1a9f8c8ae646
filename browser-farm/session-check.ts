import type { BrowserContext } from 'playwright'
import { Headers } from 'undici'
import { type Clock, SECOND } from '../core/clock.ts'
import { readSession, type SessionCheck } from '../provider/answers.ts'
import { joinCookie } from '../provider/cookie.ts'
import type { ProviderProfile } from '../provider/profile.ts'

/** How often the cookies are looked at (machine time): they lie in the browser, the provider does not notice. */
const LOOK_MS = 200
/** A session that was not usable is asked for again after this, or at once when its cookie has changed. */
const ASK_AGAIN_MS = 2 * SECOND
const SESSION_TIMEOUT_MS = 15 * SECOND

export type UsableSession = Extract<SessionCheck, { usable: true }>

/** The session cookie's whole value in this context; null while there is none. */
export async function sessionCookie(context: BrowserContext, profile: ProviderProfile): Promise<string | null> {
  const { protocol } = new URL(profile.sessionUrl)
  const cookies = await context.cookies([profile.sessionUrl, `${protocol}//${profile.cookieDomain}/`])
  return joinCookie({ name: profile.cookieName, cookies })
}

/**
 * Waits until the session of this context is usable, however many screens that takes (docs/provider.md, Session): the cookie may be there
 * long before. Asks through the context itself, so a cookie that the answer rotates stays in its jar.
 */
export async function waitForSession({
  context,
  profile,
  clock,
  signal,
}: {
  context: BrowserContext
  profile: ProviderProfile
  clock: Clock
  signal: AbortSignal
}): Promise<UsableSession> {
  let asked: string | null = null
  let askedAt = 0
  for (;;) {
    const cookie = await sessionCookie(context, profile)
    if (cookie !== null && (cookie !== asked || clock.elapsed() - askedAt >= ASK_AGAIN_MS)) {
      const check = await askSession(context, profile)
      if (check?.usable) return check
      // What the answer itself rotated is no news.
      asked = await sessionCookie(context, profile)
      askedAt = clock.elapsed()
    }
    await clock.sleep(LOOK_MS, signal)
  }
}

/** Null where the provider gives no answer that says anything: it is asked again. */
async function askSession(context: BrowserContext, profile: ProviderProfile): Promise<SessionCheck | null> {
  try {
    const response = await context.request.get(profile.sessionUrl, {
      headers: { accept: 'application/json' },
      maxRedirects: 0,
      timeout: SESSION_TIMEOUT_MS,
    })
    const answer = { status: response.status(), headers: new Headers(), body: await response.body() }
    await response.dispose()
    return readSession(answer)
  } catch {
    return null
  }
}
