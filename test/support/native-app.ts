import type { NativeCaptureAnswer, NativeStartAnswer } from '../../wire/connect-native.ts'
import { sessionCookie } from '../provider/sandbox.ts'

/** What a native app captures in its own WebView. */
interface CapturedSession {
  sessionToken: string
  accessToken: string
  providerAccountId: string
  providerAccountEmail: string
}

/** Signs in at the sandbox provider's own login, as in an app's WebView. Throws where that does not work. */
export async function captureSession({
  site,
  cookieName = 'session-token',
  email,
}: {
  site: string
  cookieName?: string
  email: string
}): Promise<CapturedSession> {
  const login = await fetch(`${site}/login`, {
    method: 'POST',
    body: new URLSearchParams({ email, password: 'secret' }),
    redirect: 'manual',
  })
  const sessionToken = sessionCookie(login)
  const answer = await fetch(`${site}/api/auth/session`, { headers: { cookie: `${cookieName}=${sessionToken}` } })
  const { accessToken, user } = (await answer.json()) as { accessToken: string; user: { id: string; email: string } }
  return { sessionToken, accessToken, providerAccountId: user.id, providerAccountEmail: user.email }
}

interface NativeAnswer<T> {
  status: number
  body: T & { error?: string }
}

/** The two calls of a native app. They throw where no answer comes. */
export function nativeApp({ baseUrl }: { baseUrl: string }) {
  const ask = async <T>(body: object): Promise<NativeAnswer<T>> => {
    const answer = await fetch(`${baseUrl}/api/connect-native`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return { status: answer.status, body: (await answer.json()) as NativeAnswer<T>['body'] }
  }
  return {
    start: ({ token, device }: { token: string; device?: Record<string, string> }) =>
      ask<NativeStartAnswer>({ action: 'start', token, ...(device && { device }) }),
    capture: (
      { captureNonce, clientSecret }: Pick<NativeStartAnswer, 'captureNonce' | 'clientSecret'>,
      session: CapturedSession,
    ) => ask<NativeCaptureAnswer>({ action: 'capture', captureNonce, clientSecret, ...session }),
  }
}
