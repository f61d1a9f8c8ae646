import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createRuntime } from '../../core/process.ts'
import type { HttpRuntime } from '../../http/kit/runtime.ts'
import { createServer } from '../../http/server.ts'
import { loadProfiles } from '../../provider/load-profiles.ts'
import { type AppSecrets, createApp } from '../../schemas/app/apps.ts'
import { connectDatabase } from '../../schemas/database.ts'
import { createIndexes } from '../../schemas/indexes.ts'
import { mustAgree } from './agreement.ts'
import { testDatabase } from './database.ts'

export const OPERATOR_KEY = 'operator-key-of-the-tests-0123456789'

/** Far more than a suite asks for: only the tests of the limit itself meet it. */
export const MANY_REQUESTS = 1_000_000

/** One http server in this process on a database of its own, with two apps. */
export interface HttpWorld {
  url: string
  runtime: HttpRuntime
  server: Server
  /** What a real process of the same service is started with. */
  env: Record<string, string>
  one: AppSecrets
  two: AppSecrets
  /** Asks with the API key of app one unless told otherwise (`key: null`: none). Every answer has to be as the API is described. */
  ask: Ask
  makeApp(appId: string, options?: { requestsPerMinute?: number }): Promise<AppSecrets>
  stop(): Promise<void>
}

export interface AskOptions {
  method?: string
  key?: string | null
  headers?: Record<string, string>
  /** An object goes as JSON, anything else as it is. */
  body?: unknown
  url?: string
}

interface Answer<T = unknown> {
  status: number
  headers: Headers
  text: string
  /** The parsed JSON; undefined where the answer is none. */
  body: T
}

export type Ask = <T = unknown>(path: string, options?: AskOptions) => Promise<Answer<T>>

/** Asks one address with one API key unless told otherwise. Every answer has to be as the API is described. */
export const asking =
  ({ url, key }: { url: string; key: string }): Ask =>
  async <T>(path: string, options: AskOptions = {}) => {
    const answer = await ask<T>(options.url ?? url, path, { key, ...options })
    mustAgree({ method: options.method ?? 'GET', path, ...answer })
    return answer
  }

/** The public listener of the service on a free port. */
export async function listen(runtime: HttpRuntime): Promise<{ url: string; server: Server; stop(): void }> {
  const { server, stopViewers } = await createServer(runtime)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    server,
    stop: () => {
      stopViewers()
      server.close()
      server.closeAllConnections()
    },
  }
}

export async function startHttpWorld({ env: more = {} }: { env?: Record<string, string> } = {}): Promise<HttpWorld> {
  const database = await testDatabase()
  const env = {
    MONGODB_URL: database.url,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    HOST: '127.0.0.1',
    PORT: '0',
    BASE_URL: 'http://127.0.0.1:1',
    OPERATOR_KEY,
    PROVIDER_SITE: 'http://127.0.0.1:9',
    WEBHOOK_PRIVATE_ADDRESSES: 'true',
    LOG_LEVEL: process.env['LOG_LEVEL'] ?? 'silent',
    ...more,
  }
  const base = createRuntime({ kind: 'http', env })
  const runtime: HttpRuntime = { ...base, profiles: await loadProfiles(base.config) }
  const connection = await connectDatabase({ url: database.url })
  await createIndexes()
  const listening = await listen(runtime)
  const { url, server } = listening
  const makeApp: HttpWorld['makeApp'] = (appId, { requestsPerMinute = MANY_REQUESTS } = {}) =>
    createApp({
      appId,
      name: appId,
      contactEmail: `${appId}@example.test`,
      createdBy: 'test',
      requestsPerMinute,
      keyring: runtime.keyring,
      now: new Date(),
    })
  const one = await makeApp('app-one')
  const two = await makeApp('app-two')
  return {
    url,
    runtime,
    server,
    env,
    one,
    two,
    makeApp,
    ask: asking({ url, key: one.apiKey }),
    stop: async () => {
      listening.stop()
      await connection.close()
      await database.drop()
    },
  }
}

async function ask<T>(
  url: string,
  path: string,
  { method = 'GET', key, headers = {}, body }: AskOptions,
): Promise<Answer<T>> {
  const isObject = typeof body === 'object' && body !== null && !(body instanceof Uint8Array)
  const response = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(key === null || key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(isObject ? { 'content-type': 'application/json' } : {}),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isObject ? JSON.stringify(body) : (body as string) }),
  })
  const text = await response.text()
  const json = response.headers.get('content-type')?.startsWith('application/json')
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: (json && text ? JSON.parse(text) : undefined) as T,
  }
}
