import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type ErrorRequestHandler } from 'express'
import { apiRoutes } from './api.ts'
import { controlRoutes } from './control.ts'
import { loginRoutes } from './login.ts'
import { createState } from './state.ts'

/** Cookies of 9 KB come in beside an access token. */
const MAX_HEADER_BYTES = 64 * 1024
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

interface SandboxProviderOptions {
  /** 0 picks a free one. */
  port: number
  /** Default 127.0.0.1. */
  host?: string
  /** The time of day that the site goes by. */
  clock?: { now(): Date }
  /** How much shorter the pause of `limited` is than its `Retry-After` says. */
  timeScale?: number
}

interface SandboxProvider {
  /** The site's origin, for example `http://127.0.0.1:4010`. */
  url: string
  /** Ends the site and every connection to it. */
  stop(): Promise<void>
}

/** Starts the sandbox provider (docs/behaviour.md, Sandbox provider). */
export async function startSandboxProvider(options: SandboxProviderOptions): Promise<SandboxProvider> {
  const { port, host = '127.0.0.1', clock = { now: () => new Date() }, timeScale = 1 } = options
  const site = createState({ now: () => clock.now().getTime(), timeScale })
  const app = express()
  app.disable('x-powered-by')
  app.set('etag', false)
  app.use((_, response, next) => {
    response.set({
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
    })
    next()
  })
  app.use(controlRoutes(site))
  app.use(apiRoutes(site))
  app.use(loginRoutes(site))
  app.use((_, response) => void response.status(404).json({ detail: 'Not found' }))
  app.use(failed)

  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES }, app)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const bound = (server.address() as AddressInfo).port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Four parameters are what tells Express that this handles errors. */
const failed: ErrorRequestHandler = (error: unknown, _request, response, _next) => {
  const status = typeof error === 'object' && error !== null && 'status' in error ? Number(error.status) : 500
  response.status(status).json({ detail: status < 500 ? 'Bad request' : 'Internal error' })
}
