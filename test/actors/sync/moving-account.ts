import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readAccount } from '../../../actors/sync/read.ts'
import { systemClock } from '../../../core/clock.ts'
import { newId } from '../../../core/ids.ts'
import { createLog } from '../../../core/log.ts'
import { parseUrl } from '../../../core/parse-url.ts'
import { createProviderClient } from '../../../provider/client.ts'
import { sandboxProfile } from '../../../provider/profile.ts'
import { type Conversation, Conversations } from '../../../schemas/archive/conversation.ts'
import { type Account, Accounts } from '../../../schemas/connection/account.ts'
import { rawConversation } from './raw-conversation.ts'

const PAGE_SIZE = 10
/** A walk that takes more list calls than this does not end. */
const MANY_CALLS = 300
const clock = systemClock({ timeScale: 2400 })

export interface Listed {
  id: string
  /** Last change, Unix ms. */
  at: number
  title?: string
}

/** An account whose list is the test's to move, at a provider of one's own, beside what was stored of it. */
export interface MovingAccount {
  /** In the order that entries of one time are listed in. */
  conversations: Listed[]
  /** Called before each list call but the first of all, with how many there were. */
  betweenCalls: (calls: number) => void
  /** What the list says it has in all. */
  total: (conversations: number) => number
  /** The most entries the provider gives at a time. */
  cap: number
  /** Status of the conversation call of these; 200 stands for an answer that is none. */
  broken: Map<string, number>
  listCalls: number
  /** External ids in the order that they were asked for. */
  fetched: string[]
  /** One sync of so many pages, or without a limit; true when there is no more to read. Throws what ended it. */
  read(options?: { pages?: number }): Promise<boolean>
  stored(): Promise<Map<string, Conversation>>
  /** External ids of what the provider has and was not stored. */
  missing(): Promise<string[]>
  account(): Promise<Account>
  close(): Promise<void>
}

export async function movingAccount(conversations: Listed[]): Promise<MovingAccount> {
  const accountId = newId()
  const archiveId = newId()
  await Accounts.create({
    _id: accountId,
    appId: 'app',
    provider: 'own',
    archiveId,
    backfill: { done: false },
    fence: 0,
  })

  const answerList = (response: ServerResponse, offset: number, limit: number): void => {
    if (moving.listCalls > 0) moving.betweenCalls(moving.listCalls)
    moving.listCalls++
    const all = [...moving.conversations].sort((a, b) => b.at - a.at)
    const items = all.slice(offset, offset + Math.min(limit, moving.cap)).map(({ id, at }) => ({
      id,
      title: id,
      update_time: new Date(at).toISOString(),
    }))
    response.end(JSON.stringify({ items, total: moving.total(all.length), limit: Math.min(limit, moving.cap), offset }))
  }
  const answerConversation = (response: ServerResponse, id: string): void => {
    moving.fetched.push(id)
    const status = moving.broken.get(id)
    const found = moving.conversations.find((each) => each.id === id)
    response.statusCode = status ?? (found ? 200 : 404)
    const { title = id, at = 0 } = found ?? {}
    response.end(
      status ? 'no JSON' : JSON.stringify(rawConversation({ id, title, text: title, updateTime: at / 1000 })),
    )
  }
  const server = createServer((request, response) => {
    const { pathname, searchParams } = parseUrl(request.url ?? '', 'http://own') ?? new URL('http://own')
    const last = pathname.split('/').at(-1) ?? ''
    if (last === 'conversations')
      answerList(response, Number(searchParams.get('offset')), Number(searchParams.get('limit')))
    else answerConversation(response, last)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const profile = {
    ...sandboxProfile(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    pageSize: PAGE_SIZE,
  }

  const account = async (): Promise<Account & { archiveId: string }> => {
    const found = await Accounts.findById(accountId).lean<Account>()
    if (!found) throw new Error('the account is gone')
    return { ...found, archiveId }
  }
  const stored = async () => {
    const found = await Conversations.find({ archiveId }).lean<Conversation[]>()
    return new Map(found.map((conversation) => [conversation.externalId, conversation]))
  }
  const moving: MovingAccount = {
    conversations,
    betweenCalls: () => undefined,
    total: (count) => count,
    cap: Number.POSITIVE_INFINITY,
    broken: new Map(),
    listCalls: 0,
    fetched: [],
    read: async ({ pages = MANY_CALLS } = {}) => {
      const before = moving.listCalls
      const finished = await readAccount({
        account: await account(),
        archiveKey: Buffer.alloc(32),
        runId: newId(),
        client: createProviderClient({ profile, credential: { cookie: 'c', accessToken: 't' }, clock }),
        pageSize: PAGE_SIZE,
        clock,
        log: createLog({ name: 'test', level: 'silent' }),
        isOver: () => moving.listCalls - before >= pages,
        progress: { unchanged: 0, written: 0 },
        checkpoint: async () => undefined,
        halt: () => undefined,
      })
      if (moving.listCalls - before >= MANY_CALLS) throw new Error('the walk does not end')
      return finished
    },
    stored,
    missing: async () => {
      const have = await stored()
      return moving.conversations.flatMap(({ id }) => (have.has(id) ? [] : id))
    },
    account,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
  return moving
}

const NEWEST = Date.UTC(2026, 0, 1)

/** So many conversations, newest first, a minute apart; `prefix` and a number from 0 are their ids. */
export const listOf = (count: number, { prefix = 'c', newest = NEWEST, step = 60_000 } = {}): Listed[] =>
  Array.from({ length: count }, (_, index) => ({ id: `${prefix}${index}`, at: newest - index * step }))
