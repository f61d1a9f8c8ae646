/**
 * `POST /__control` lets tests change the sandbox provider while it runs. The body is a JSON object with an `action`;
 * accounts are named by e-mail; the answer is JSON, 400 `{error}` for a wrong body. Nothing of it outlives the process.
 *
 * - `add {account, title?, messages?, id?, createTime?, updateTime?}` → `{id}`: a new conversation. `messages` are
 *   `{role, text}`; times are Unix seconds, by default now.
 * - `change {account, id, title?, messages?, updateTime?}`: retitles, appends messages, moves the update time (default now).
 * - `put {account, id, raw}`: any conversation object, as it is; its `update_time` orders the list.
 * - `delete {account, id}`: the conversation vanishes from the list and answers 404.
 * - `list {account}` → `{conversations: [{id, title, create_time, update_time}]}`; `raw {account, id}` → `{raw}`.
 * - `export {account}` → `{conversations: [raw, …]}`: what an account export's `conversations.json` would hold.
 * - `end-sessions {account}`: every session begun so far is over. `expire-tokens {account}`: access tokens are.
 * - `rotate {account}`: the next call gives the session a new cookie.
 * - `fail {mode, count?, status?, retryAfter?, account?, path?}`: the next `count` (1) calls, of the account or with
 *   `path` in their path where given, fail. Modes: `status` (answers `status`, with the header where given), `hang`,
 *   `reset` (of the connection), `garbage` (HTML), `truncate` (the connection ends within the body).
 * - `limit {account, after, retryAfter?, form?, blockMs?}`: 429 after each `after` calls, for `blockMs` (default
 *   `retryAfter` seconds under TIME_SCALE); `form` is `seconds`, `date` or `none`; `after: null` lifts it.
 * - `log {account?}` → `{requests: [{at, email, method, path, status}], calls: {<email>: {session, list, conversation,
 *   file, refused}}}`.
 * - `reset {account?}`: forgets all of this, for one account or the site. Sessions ended stay ended.
 */
import express, { Router } from 'express'
import { z } from 'zod'
import { continuedConversation, conversationId, linearConversation, type RawConversation, type Turn } from './raw.ts'
import { type AccountState, conversationOf, listOf, type SiteState, setConversation, stateOf } from './state.ts'

const account = z.string()
const id = z.string().min(1)
const seconds = z.number().finite()
const messages = z.array(z.strictObject({ role: z.enum(['user', 'assistant']), text: z.string() }))

const command = z.discriminatedUnion('action', [
  z.strictObject({
    action: z.literal('add'),
    account,
    id: id.optional(),
    title: z.string().nullable().default('New conversation'),
    messages: messages.default([{ role: 'user', text: 'Hello' }]),
    createTime: seconds.optional(),
    updateTime: seconds.optional(),
  }),
  z.strictObject({
    action: z.literal('change'),
    account,
    id,
    title: z.string().nullable().optional(),
    messages: messages.default([]),
    updateTime: seconds.optional(),
  }),
  z.strictObject({ action: z.literal('put'), account, id, raw: z.looseObject({}) }),
  z.strictObject({ action: z.literal('delete'), account, id }),
  z.strictObject({ action: z.literal('list'), account }),
  z.strictObject({ action: z.literal('raw'), account, id }),
  z.strictObject({ action: z.literal('export'), account }),
  z.strictObject({ action: z.literal('end-sessions'), account }),
  z.strictObject({ action: z.literal('expire-tokens'), account }),
  z.strictObject({ action: z.literal('rotate'), account }),
  z.strictObject({
    action: z.literal('fail'),
    mode: z.enum(['status', 'hang', 'reset', 'garbage', 'truncate']),
    count: z.int().min(1).default(1),
    status: z.int().min(200).max(599).default(500),
    retryAfter: z.string().nullable().default(null),
    account: account.nullable().default(null),
    path: z.string().nullable().default(null),
  }),
  z.strictObject({
    action: z.literal('limit'),
    account,
    after: z.int().min(0).nullable(),
    retryAfter: z.number().min(0).default(60),
    form: z.enum(['seconds', 'date', 'none']).default('seconds'),
    blockMs: z.number().min(0).optional(),
  }),
  z.strictObject({ action: z.literal('log'), account: account.optional() }),
  z.strictObject({ action: z.literal('reset'), account: account.optional() }),
])

type Command = z.infer<typeof command>

export function controlRoutes(site: SiteState): Router {
  const router = Router()
  router.post('/__control', express.json({ limit: '64mb' }), (request, response) => {
    const parsed = command.safeParse(request.body)
    if (!parsed.success) {
      response.status(400).json({ error: z.prettifyError(parsed.error) })
      return
    }
    const named = parsed.data.account
    const state = typeof named === 'string' ? stateOf(site, named) : null
    if (typeof named === 'string' && state === null)
      response.status(400).json({ error: 'account is no e-mail address' })
    else if (state === null) response.json(carryOutForAll(site, parsed.data))
    else {
      const result = carryOut(site, state, parsed.data) ?? { ok: true }
      response.status('error' in result ? 400 : 200).json(result)
    }
  })
  return router
}

function carryOutForAll(site: SiteState, order: Command): object {
  if (order.action === 'fail') site.faults.push({ ...order, email: null })
  if (order.action === 'reset') {
    site.faults = []
    site.log = []
    for (const state of [...site.accounts.values()]) forget(site, state)
  }
  const calls = Object.fromEntries([...site.accounts].map(([email, state]) => [email, state.calls]))
  return order.action === 'log' ? { requests: site.log, calls } : { ok: true }
}

function carryOut(site: SiteState, state: AccountState, order: Command): object | undefined {
  const { email } = state.account
  const now = site.now() / 1000
  switch (order.action) {
    case 'add': {
      const added = order.id ?? conversationId(email, state.account.conversations + state.changed.size + 1)
      const start = order.createTime ?? now
      const turns = order.messages.map((message, i) => ({ ...message, time: start + i }))
      const raw = linearConversation({ id: added, title: order.title, turns })
      setConversation(state, added, { ...raw, create_time: start, update_time: order.updateTime ?? raw.update_time })
      return { id: added }
    }
    case 'change': {
      const raw = conversationOf(site, state, order.id)
      if (raw === null) return { error: 'no such conversation' }
      const turns: Turn[] = order.messages.map((message, i) => ({ ...message, time: now + i / 1000 }))
      const title = order.title === undefined ? raw.title : order.title
      setConversation(state, order.id, {
        ...continuedConversation(raw, turns),
        title,
        update_time: order.updateTime ?? now,
      })
      return
    }
    case 'put':
      setConversation(state, order.id, order.raw as unknown as RawConversation)
      return
    case 'delete':
      setConversation(state, order.id, null)
      return
    case 'list':
      return { conversations: listOf(site, state) }
    case 'raw':
      return { raw: conversationOf(site, state, order.id) }
    case 'export':
      return { conversations: listOf(site, state).map(({ id }) => conversationOf(site, state, id)) }
    case 'end-sessions':
      state.endedAt = site.now()
      return
    case 'expire-tokens':
      state.tokenGeneration++
      return
    case 'rotate':
      state.rotateNext = true
      return
    case 'fail':
      site.faults.push({ ...order, email })
      return
    case 'limit': {
      const blockMs = order.blockMs ?? (order.retryAfter * 1000) / site.timeScale
      state.limit =
        order.after === null
          ? null
          : { after: order.after, retryAfterSeconds: order.retryAfter, form: order.form, blockMs }
      state.callsSincePause = 0
      state.blockedUntil = 0
      return
    }
    case 'log':
      return { requests: site.log.filter((entry) => entry.email === email), calls: { [email]: state.calls } }
    case 'reset':
      site.log = site.log.filter((entry) => entry.email !== email)
      site.faults = site.faults.filter((fault) => fault.email !== email)
      forget(site, state)
      return
  }
}

/** The account starts over, but sessions ended stay ended and cookies rotated away stay invalid. */
function forget(site: SiteState, state: AccountState): void {
  const { account, endedAt, turns, tokenGeneration } = state
  site.accounts.delete(account.email)
  const fresh = stateOf(site, account.email)
  if (fresh) Object.assign(fresh, { endedAt, turns, tokenGeneration })
}
