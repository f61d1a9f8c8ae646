import { systemClock } from '../../core/clock.ts'
import { type Credential, createProviderClient, type ProviderClientOptions } from '../../provider/client.ts'
import { joinCookie } from '../../provider/cookie.ts'
import { sandboxProfile } from '../../provider/profile.ts'
import { startSandboxProvider } from '../../sandbox/site.ts'

/** Back-off of seconds lasts milliseconds, so that the tests see the real waits. */
export const fastClock = systemClock({ timeScale: 1000 })

export interface RunningSite {
  url: string
  stop(): Promise<void>
  control<T = unknown>(order: object): Promise<T>
  post(path: string, fields: Record<string, string>, cookie?: string): Promise<Response>
  /** Signs in with e-mail and password; the session cookie's whole value. */
  signIn(email: string): Promise<string>
  client(credential: Credential, options?: Partial<ProviderClientOptions>): ReturnType<typeof createProviderClient>
  /** A client of an account that has just signed in. */
  clientOf(email: string, options?: Partial<ProviderClientOptions>): Promise<ReturnType<typeof createProviderClient>>
}

export async function startSite(options: { clock?: { now(): Date }; port?: number } = {}): Promise<RunningSite> {
  return siteAt(await startSandboxProvider({ port: 0, timeScale: 1000, ...options }))
}

/** A site that runs, in this process or another. */
export function siteAt({ url, stop }: Pick<RunningSite, 'url' | 'stop'>): RunningSite {
  const profile = sandboxProfile(url)
  const post: RunningSite['post'] = (path, fields, cookie) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      body: new URLSearchParams(fields),
      redirect: 'manual',
      headers: cookie === undefined ? {} : { cookie },
    })
  const signIn: RunningSite['signIn'] = async (email) =>
    sessionCookie(await post('/login', { email, password: 'secret' }))
  const client: RunningSite['client'] = (credential, more) =>
    createProviderClient({ profile, credential, clock: fastClock, ...more })
  return {
    url,
    stop,
    post,
    signIn,
    client,
    clientOf: async (email, more) => client({ cookie: await signIn(email) }, more),
    control: async <T>(order: object) => {
      const answer = await fetch(`${url}/__control`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(order),
      })
      if (!answer.ok) throw new Error(await answer.text())
      return (await answer.json()) as T
    },
  }
}

/** The session credential that a response sets. */
export function sessionCookie(response: Response): string {
  const cookies = response.headers.getSetCookie().map((header) => {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(header) ?? []
    return { name, value }
  })
  return joinCookie({ name: 'session-token', cookies }) ?? ''
}
