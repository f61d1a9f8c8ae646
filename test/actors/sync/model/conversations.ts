import * as assert from 'uvu/assert'
import { DAY } from '../../../../core/clock.ts'
import type { Conversation, ConversationPage } from '../../../../sdk/src/index.ts'
import { at, type Run } from './history.ts'
import type { ModelConnection } from './model.ts'

export interface Counts {
  all: number
  recent: number
}

/** More than the API gives in one page, and than an account has. */
const MOST = 100
/** Pages of the larger account, of different sizes: a place that one of them learned is not where the other one's pages begin. */
const BY_CURSOR = 20
const BY_OFFSET = 13
const RECENT_MS = 30 * DAY
const NOTHING = { conversations: [], total: 0, limit: MOST, offset: 0, nextCursor: null }

async function readPage(
  { apps }: Run,
  { id, app }: ModelConnection,
  query: { limit: number; offset?: number; cursor?: string },
): Promise<ConversationPage> {
  const given = Object.entries(query).map(([name, value]) => `&${name}=${value}`)
  const { status, body } = await at(apps, app).ask<ConversationPage>(
    `/api/conversations?connectionId=${id}${given.join('')}`,
  )
  assert.is(status, 200)
  return body
}

/**
 * Asks for all conversations of a connection, at whatever moment: newest update first; each as its account has it or had it; none of
 * those shown before is missing, older than it was, or has another id, whichever connection of the account showed it. A revoked
 * connection shows nothing.
 */
export async function seeConversations(run: Run, connection: ModelConnection): Promise<ConversationPage> {
  const { archive } = connection
  const page = await readPage(run, connection, { limit: MOST + 1 })
  const { conversations } = page
  if (connection.status === 'revoked') {
    assert.equal(page, NOTHING, 'a revoked connection shows nothing')
    return page
  }
  assert.equal([page.limit, page.offset], [MOST, 0])
  const times = conversations.map(({ update_time }) => update_time ?? '')
  assert.equal(times, [...times].sort().reverse(), 'newest update first')
  const seen = run.seen.archives.get(archive) ?? new Map<string, { id: string; version: number }>()
  run.seen.archives.set(archive, seen)
  for (const conversation of conversations) {
    const { id, external_id: externalId } = conversation
    const version = versionOf(run, connection, conversation)
    const before = seen.get(externalId)
    if (before) assert.is(id, before.id, `${externalId} keeps its id`)
    assert.ok(version >= (before?.version ?? 0), `${externalId} does not go back`)
    seen.set(externalId, { id, version })
    const name = `${archive} ${externalId}`
    assert.is(run.seen.names.get(id) ?? name, name, 'an id names one conversation')
    run.seen.names.set(id, name)
  }
  const shown = conversations.map(({ external_id }) => external_id)
  assert.equal([...shown].sort(), [...seen.keys()].sort(), 'each once, and none is lost')
  return page
}

/** Which version of the account's conversation this is. Throws where it is none. */
function versionOf(
  { accounts }: Run,
  { account }: ModelConnection,
  { external_id, title, payload, update_time }: Conversation,
): number {
  const versions = at(accounts, account).versions.get(external_id) ?? []
  const index = versions.findIndex(({ updateTime }) => updateTime === update_time)
  const wanted = versions[index]?.payload
  assert.equal({ title, payload }, { title: wanted?.title, payload: wanted }, `${external_id} as of ${update_time}`)
  return index
}

/**
 * The same of a connection that is settled: an active one shows everything that its account has now, as it is now, and all ways of
 * paging show the same. Returns what the listing of connections has to count.
 */
export async function compareConversations(run: Run, connection: ModelConnection): Promise<Counts> {
  const { conversations, total, nextCursor } = await seeConversations(run, connection)
  if (connection.status === 'revoked') return { all: 0, recent: 0 }
  const { versions, present } = at(run.accounts, connection.account)
  const shown = run.seen.archives.get(connection.archive)
  for (const externalId of connection.status === 'active' ? present : [])
    assert.is(
      shown?.get(externalId)?.version,
      (versions.get(externalId)?.length ?? 0) - 1,
      `${externalId} is up to date`,
    )
  assert.equal([total, nextCursor], [conversations.length, null], 'the page is the whole')
  if (total > BY_CURSOR) await comparePages(run, connection, conversations)
  countUpdates(run, connection, conversations)
  const since = run.world.runtime.clock.now().getTime() - RECENT_MS
  const isRecent = ({ external_id }: Conversation) =>
    (versions.get(external_id)?.[0]?.firstMessageAt?.getTime() ?? 0) >= since
  return { all: conversations.length, recent: conversations.filter(isRecent).length }
}

async function comparePages(run: Run, connection: ModelConnection, whole: Conversation[]): Promise<void> {
  const total = whole.length
  const first = await readPage(run, connection, { limit: BY_CURSOR })
  const read = [...first.conversations]
  for (let cursor = first.nextCursor; cursor; ) {
    const page = await readPage(run, connection, { limit: BY_CURSOR, cursor })
    read.push(...page.conversations)
    cursor = page.nextCursor
  }
  assert.equal(read, whole, 'page by page by cursor')
  const offsets = Array.from({ length: Math.floor(total / BY_OFFSET) }, (_, index) => (index + 1) * BY_OFFSET)
  await Promise.all(
    offsets.map(async (offset) => {
      const page = await readPage(run, connection, { limit: BY_OFFSET, offset })
      assert.equal([page.total, page.limit, page.offset], [total, BY_OFFSET, offset])
      assert.equal(page.conversations, whole.slice(offset, offset + BY_OFFSET), `the page from ${offset} on`)
    }),
  )
}

function countUpdates({ seen }: Run, { archive }: ModelConnection, conversations: Conversation[]): void {
  const before = seen.compared.get(archive)
  const now = new Map(conversations.map(({ external_id, payload }) => [external_id, JSON.stringify(payload)]))
  const differ = [...(before ?? [])].filter(([externalId, payload]) => now.get(externalId) !== payload).length
  seen.compared.set(archive, now)
  seen.updates.set(archive, (seen.updates.get(archive) ?? 0) + differ)
}
