import { extname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import express, { type Express, type NextFunction, type Request, type Response } from 'express'
import {
  CcsError,
  type Client,
  expressWebhook,
  type LinkPurpose,
  signLink,
  type UserConnections,
} from '../src/index.ts'
import type { PartnerConfig } from './config.ts'
import type { EventLog } from './event-log.ts'

export type PartnerOptions = {
  config: PartnerConfig
  client: Client
  log: EventLog
  /** This server's own address, to come back to after connecting. */
  ownUrl: () => string
}

const PAGE_SIZE = 20

/** A request that this backend itself refuses. */
class BadRequest extends Error {}

function textOf(value: unknown, name: string): string {
  if (typeof value !== 'string' || value === '' || value.length > 200)
    throw new BadRequest(`${name} is missing or too long`)
  return value
}

function purposeOf(value: unknown): LinkPurpose {
  if (value === undefined || value === 'connect') return 'connect'
  if (value === 'manage') return 'manage'
  throw new BadRequest("purpose must be 'connect' or 'manage'")
}

/** What the API would answer for a user who has connected nothing; it answers 404 until the first link was opened. */
const nobody = (userRef: string): UserConnections => ({
  userRef,
  connected: false,
  needsReauth: false,
  recentConversationCount: 0,
  recentWindowDays: 30,
  connections: [],
})

function isUnknownUser(error: unknown) {
  return error instanceof CcsError && error.status === 404 && error.message === 'User not found'
}

function answerError(error: unknown, _request: Request, response: Response, next: NextFunction) {
  if (response.headersSent) return next(error)
  if (error instanceof BadRequest) return response.status(400).json({ error: error.message })
  if (error instanceof CcsError) {
    if (error.retryAfterSeconds !== undefined) response.set('Retry-After', String(error.retryAfterSeconds))
    return response.status(error.status || 502).json({ error: error.message, requestId: error.requestId })
  }
  next(error)
}

/** The package's module for pages, which a partner's own bundler would take from `ccs-sdk/browser`. */
async function bundleBrowserModule(): Promise<string> {
  // Compiled, as this file is, or not.
  const entry = fileURLToPath(new URL(`../src/browser${extname(import.meta.filename)}`, import.meta.url))
  const { outputFiles } = await build({ entryPoints: [entry], write: false, minify: true, format: 'esm' })
  return outputFiles[0]?.text ?? ''
}
let browserModule: Promise<string> | undefined

/** The partner's backend. Secrets and the API key stay here; the page gets links, answers and events only. */
export function createPartner({ config, client, log, ownUrl }: PartnerOptions): Express {
  const app = express().disable('x-powered-by')
  const { appId, appSecret, baseUrl, webhookSecret } = config
  const policy = [
    // The service is asked how a flow goes that this page has opened.
    `default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self' ${new URL(baseUrl).origin}; img-src 'self' data:`,
    // A form that leads to a redirect needs its target allowed as well.
    `form-action 'self' ${new URL(baseUrl).origin}; base-uri 'none'; frame-ancestors 'none'`,
  ].join('; ')

  const link = (userRef: string, purpose: LinkPurpose, redirectUrl?: string) =>
    signLink({ appId, appSecret, userRef, purpose, baseUrl, ...(redirectUrl === undefined ? {} : { redirectUrl }) })

  app.use((_request, response, next) => {
    response.set({
      'Content-Security-Policy': policy,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
    })
    next()
  })

  // The webhook comes before any body parser: the signature is over the bytes as they came.
  const onRejected = log.addRefused
  app.post('/webhooks', expressWebhook({ secret: webhookSecret, onEvent: log.add, onRejected, memory: log }))

  app.get('/connect', ({ query }, response) => {
    const userRef = textOf(query['userRef'], 'userRef')
    response.redirect(303, link(userRef, 'connect', `${ownUrl()}/?${new URLSearchParams({ userRef })}`).url)
  })
  app.get('/manage', ({ query }, response) => {
    response.redirect(303, link(textOf(query['userRef'], 'userRef'), 'manage').url)
  })
  app.get('/links', ({ query }, response) => {
    const userRef = textOf(query['userRef'], 'userRef')
    // A flow in a window of its own ends at a page that tells the one that waits.
    const redirectUrl = query['window'] === 'own' ? `${ownUrl()}/connected.html` : undefined
    response.json({ url: link(userRef, purposeOf(query['purpose']), redirectUrl).url })
  })
  app.get('/ccs-browser.js', async (_request, response) => {
    browserModule ??= bundleBrowserModule()
    response.type('text/javascript').send(await browserModule)
  })
  app.get('/connections', async ({ query }, response) => {
    const userRef = textOf(query['userRef'], 'userRef')
    const answer = await client.connections(userRef).catch((error: unknown) => {
      if (isUnknownUser(error)) return nobody(userRef)
      throw error
    })
    response.json(answer)
  })
  app.get('/connections/:connectionId/conversations', async ({ params, query }, response) => {
    const offset = Number(query['offset'] ?? 0)
    if (!Number.isSafeInteger(offset) || offset < 0) throw new BadRequest('offset must be zero or more')
    const cursor = query['cursor'] === undefined ? {} : { cursor: textOf(query['cursor'], 'cursor') }
    const position = offset > 0 ? { offset } : cursor
    response.json(await client.conversations({ connectionId: params.connectionId, limit: PAGE_SIZE, ...position }))
  })
  // JSON only: another site's form cannot send that, so it cannot delete anything in this user's name.
  app.post('/purge', express.json({ limit: '4kb' }), async ({ body }, response) => {
    const { connectionId, userRef } = Object(body) as Record<string, unknown>
    const target =
      connectionId === undefined
        ? { userRef: textOf(userRef, 'userRef') }
        : { connectionId: textOf(connectionId, 'connectionId') }
    response.json(await client.purge(target))
  })
  app.get('/events', (_request, response) => {
    response.json({ events: log.list() })
  })
  app.get('/events/stream', (request, response) => {
    response.set('Content-Type', 'text/event-stream').flushHeaders()
    const stop = log.watch((entry) => response.write(`data: ${JSON.stringify(entry)}\n\n`))
    request.on('close', stop)
  })
  app.use(express.static(fileURLToPath(new URL('public', import.meta.url)), { cacheControl: false }))
  app.use((_request: Request, response: Response) => {
    response.status(404).json({ error: 'Not found' })
  })
  app.use(answerError)
  return app
}
