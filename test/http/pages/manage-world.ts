import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from '../../../http/server.ts'
import { createApp } from '../../../schemas/app/apps.ts'
import { signLink } from '../../../sdk/src/index.ts'
import { type ActorWorld, startActorWorld } from '../../support/actors.ts'

/** Markup in its name, which no page may take for its own. */
const APP_NAME = `Ada's <b>"Notes" & Co</b>`
/** The same as it stands in a page. */
export const ESCAPED_NAME = 'Ada&#39;s &lt;b&gt;&quot;Notes&quot; &amp; Co&lt;/b&gt;'
export const APP_ID = 'notes'

/** The hosted pages and the actors that carry out what they ask for, in this process. */
export interface ManageWorld {
  actors: ActorWorld
  url: string
  /** The token of a manage link of `APP_ID`, unless told otherwise. */
  token(userRef: string, options?: Partial<Parameters<typeof signLink>[0]>): string
  visitor(): Visitor
  stop(): Promise<void>
}

interface Page {
  status: number
  headers: Headers
  text: string
  /** What `role="alert"` says; undefined where nothing went wrong. */
  alert: string | undefined
  /** The hidden field of the confirmation. */
  flow: string | undefined
}

/** A browser without scripts: keeps its cookie, goes where it is sent only when told. */
export interface Visitor {
  cookie(): string
  setCookie: string[]
  get(path: string): Promise<Page>
  /** Opens a link and goes on to the clean address. */
  open(token: string): Promise<Page>
  /** Sends the confirmation's form as a browser does. */
  confirm(flow: string | undefined, headers?: Record<string, string>): Promise<Page>
}

export async function startManageWorld(): Promise<ManageWorld> {
  const actors = await startActorWorld()
  const secrets = { appSecret: 's'.repeat(43), apiKey: 'unused', webhookSecret: 'w'.repeat(43) }
  await createApp({
    appId: APP_ID,
    name: APP_NAME,
    contactEmail: 'x@example.test',
    primaryColor: '#7c3aed',
    webhookUrl: actors.receiver.url,
    keyring: actors.keyring,
    now: new Date(),
    createdBy: 'test',
    secrets,
  })
  const { server } = await createServer(actors.runtime)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    actors,
    url,
    token: (userRef, options = {}) =>
      signLink({
        appId: APP_ID,
        appSecret: secrets.appSecret,
        purpose: 'manage',
        baseUrl: url,
        userRef,
        ...options,
      }).token,
    visitor: () => visitor(url),
    stop: async () => {
      server.close()
      server.closeAllConnections()
      await actors.stop()
    },
  }
}

function visitor(url: string): Visitor {
  let cookie = ''
  const setCookie: string[] = []
  const ask = async (path: string, init: RequestInit = {}): Promise<Page> => {
    const response = await fetch(`${url}${path}`, {
      ...init,
      redirect: 'manual',
      headers: { ...(cookie && { cookie }), ...init.headers },
    })
    for (const line of response.headers.getSetCookie()) {
      setCookie.push(line)
      cookie = line.split(';')[0] ?? ''
    }
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      text,
      alert: /<p role="alert"[^>]*>([^<]*)</.exec(text)?.[1],
      flow: /name="flow" value="([^"]*)"/.exec(text)?.[1],
    }
  }
  return {
    cookie: () => cookie,
    setCookie,
    get: (path) => ask(path),
    open: async (token) => {
      const sent = await ask(`/manage?token=${token}`)
      return sent.status === 303 ? ask(sent.headers.get('location') ?? '') : sent
    },
    confirm: (flow, headers = { origin: 'null', 'sec-fetch-site': 'same-origin' }) =>
      ask('/manage/delete', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        body: flow === undefined ? '' : new URLSearchParams({ flow }).toString(),
      }),
  }
}
