import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { isKeyed, openArchiveKey } from '../../../actors/connection/keys.ts'
import { readAccount } from '../../../actors/sync/read.ts'
import { systemClock } from '../../../core/clock.ts'
import { unseal } from '../../../core/envelope.ts'
import { newId } from '../../../core/ids.ts'
import type { ProviderClient } from '../../../provider/client.ts'
import { Attachments } from '../../../schemas/archive/attachment.ts'
import { type Conversation, Conversations } from '../../../schemas/archive/conversation.ts'
import { ConversationParts } from '../../../schemas/archive/conversation-part.ts'
import { type Account, Accounts } from '../../../schemas/connection/account.ts'
import { Connections } from '../../../schemas/connection/connection.ts'
import { ATTACHMENT_PURPOSE, openCredential } from '../../../schemas/secrets.ts'
import { type ActorWorld, startActorWorld } from '../../support/actors.ts'
import { readAttachmentBytes } from '../../support/stored-file.ts'
import { until } from '../../support/until.ts'
import {
  bodyOf,
  callsOf,
  complete,
  connected,
  connectionOf,
  ingest,
  payloadOf,
  rawOf,
  storedOf,
  syncAgain,
} from './support.ts'

const reading = suite('reading an account')
let world: ActorWorld
reading.before(async () => {
  world = await startActorWorld({ timeScale: 1000 })
})
reading.after(() => world.stop())

const PAGE_SIZE = 10
const clock = systemClock({ timeScale: 1000 })

/** An archive that is read page by page by hand: `between` is called before each list call but the first. */
async function readerOf(email: string) {
  const accountId = newId()
  const archiveId = newId()
  await Accounts.create({ _id: accountId, appId: 'x', provider: 'x', archiveId, backfill: { done: false }, fence: 0 })
  const client = await world.site.clientOf(email, {
    profile: { ...(world.runtime.profiles[0] as (typeof world.runtime.profiles)[0]), pageSize: PAGE_SIZE },
  })
  const stored = () => Conversations.find({ archiveId }).lean<Conversation[]>()
  const read = async ({
    between = async () => undefined,
    pages = Number.POSITIVE_INFINITY,
  }: {
    between?: (call: number) => Promise<unknown>
    pages?: number
  } = {}) => {
    let calls = 0
    const list: ProviderClient['list'] = async (options) => {
      if (calls > 0) await between(calls)
      calls += 1
      return client.list(options)
    }
    const account = await Accounts.findById(accountId).lean<Account & { archiveId: string }>()
    if (!account) throw new Error('no account')
    return readAccount({
      account,
      archiveKey: Buffer.alloc(32),
      runId: newId(),
      client: { ...client, list },
      pageSize: PAGE_SIZE,
      clock,
      log: world.runtime.log,
      isOver: () => calls >= pages,
      progress: { unchanged: 0, written: 0 },
      checkpoint: async () => undefined,
      halt: () => undefined,
    })
  }
  return { read, stored, accountId, archiveId }
}

const listed = async (account: string) => {
  const { conversations } = await world.site.control<{ conversations: { id: string }[] }>({ action: 'list', account })
  return conversations.map(({ id }) => id)
}

reading('a list that shifts while it is read: entries that go, come and move up are all found', async () => {
  const account = 'bulk-95+shift@example.test'
  const { read, stored } = await readerOf(account)
  await read({
    between: async (call) => {
      if (call > 12) return
      const ids = await listed(account)
      // Three that were read go, so that later ones slip onto pages that were read; one comes; one far down moves up.
      for (const id of ids.slice(2, 5)) await world.site.control({ action: 'delete', account, id })
      await world.site.control({ action: 'add', account, title: `New ${call}` })
      await world.site.control({ action: 'change', account, id: ids.at(-5), title: `Moved ${call}` })
    },
  })
  await read()
  const found = new Map((await stored()).map(({ externalId, title }) => [externalId, title]))
  for (const id of await listed(account)) assert.ok(found.has(id), `${id} was passed over`)
  for (const [, title] of found) assert.type(title, 'string')
})

reading('one that vanishes between list and fetch is passed over, and what was stored before stays', async () => {
  const account = 'bulk-30+vanish@example.test'
  const { read, stored } = await readerOf(account)
  const all = await listed(account)
  await world.site.control({ action: 'fail', account, mode: 'status', status: 404, path: `/conversation/${all[3]}` })
  assert.ok(await read())
  const first = (await stored()).map(({ externalId }) => externalId)
  await world.site.control({ action: 'delete', account, id: all[0] })
  assert.ok(await read())
  const after = (await stored()).map(({ externalId }) => externalId)
  assert.ok(first.length >= 29 && after.includes(all[0] ?? ''), 'a deletion is never inferred')
})

reading('a look at what is new that is cut short goes on where it was, and fetches nothing twice', async () => {
  const account = 'bulk-100+gap@example.test'
  const { read, stored } = await readerOf(account)
  while (!(await read({ pages: 2 })));
  assert.is((await stored()).length, 100)
  const ids = await listed(account)
  for (const id of ids.slice(0, 45)) await world.site.control({ action: 'change', account, id, title: `Changed ${id}` })
  await world.site.control({ action: 'reset' })
  for (const id of ids.slice(0, 45)) await world.site.control({ action: 'change', account, id, title: `Changed ${id}` })
  let rounds = 0
  while (!(await read({ pages: 2 }))) rounds += 1
  assert.ok(rounds >= 2)
  assert.is((await stored()).filter(({ title }) => title?.startsWith('Changed')).length, 45)
  const { conversation, list } = await callsOf(world, account)
  assert.is(conversation, 45)
  assert.ok(list < 25, `${list} list calls`)
})

reading('what appears deep in the list is found all the same', async () => {
  const account = 'bulk-60+deep@example.test'
  const { read, stored } = await readerOf(account)
  while (!(await read()));
  await world.site.control({ action: 'add', account, id: 'deep', createTime: 1_700_000_000 })
  assert.ok(await read())
  assert.ok((await stored()).some(({ externalId }) => externalId === 'deep'))
  await world.site.control({ action: 'reset', account })
})

reading('only forward: an older version, of a sync or an export, changes nothing; a touch is unchanged', async () => {
  const account = 'forward@example.test'
  const id = await connected(world, { userRef: 'forward', email: account })
  const [newest] = await storedOf(await complete(id))
  if (!newest) throw new Error('nothing stored')
  const { raw } = await world.site.control<{ raw: { title: string; update_time: number } }>({
    action: 'raw',
    account,
    id: newest.externalId,
  })
  const older = await ingest(world, {
    connectionId: id,
    conversations: [{ ...raw, title: 'Older', update_time: raw.update_time - 60 }],
  })
  assert.equal(older.result, { inserted: 0, updated: 0, unchanged: 1, total: 1 })
  await world.site.control({ action: 'change', account, id: newest.externalId })
  assert.match((await syncAgain(id)).sync.outcome ?? '', /0 inserted, 0 updated/)
  const after = await Conversations.findById(newest._id).lean<Conversation>()
  assert.is(after?.title, newest.title)
  assert.ok((after?.updateTime ?? 0) > (newest.updateTime ?? 0), 'its time moved')
})

reading('a 9 KB cookie in parts that rotates at every third call lasts through many syncs', async () => {
  const account = 'chunked@example.test'
  const id = await connected(world, { userRef: 'chunked', email: account })
  await complete(id)
  const cookies = new Set<string>()
  for (let index = 0; index < 4; index++) {
    await world.site.control({ action: 'add', account, title: `Another ${index}` })
    const connection = await syncAgain(id)
    assert.match(connection.sync.outcome ?? '', /^complete.*1 inserted/)
    if (!isKeyed(connection) || !connection.credential) throw new Error('no credential')
    const key = world.keyring.unwrap(connection.key)
    cookies.add(openCredential({ id, key, sealed: connection.credential }).cookie)
  }
  assert.is((await connectionOf(id)).status, 'active')
  assert.ok(cookies.size >= 2, 'what the provider rotated is stored')
  assert.is((await storedOf(await connectionOf(id))).length, 34)
})

reading(
  'a history goes on where it stopped, after an interruption and a reconnect, and nothing is read twice',
  async () => {
    const account = 'big@example.test'
    const first = await connected(world, { userRef: 'big', email: account })
    await until('some are stored', async () => (await storedOf(await connectionOf(first))).length > 40)
    const second = await connected(world, { userRef: 'big', email: account })
    await until('more are stored', async () => (await storedOf(await connectionOf(second))).length > 150)
    await Connections.updateOne({ _id: second }, { $set: { yieldRequestedAt: new Date() } })
    await until('all', async () => (await storedOf(await connectionOf(second))).length === 400)
    await complete(second)
    const { conversation } = await callsOf(world, account)
    // Those that were on their way when a sync was cut short are asked for once more.
    assert.ok(conversation <= 400 + 3 * 4, `${conversation} conversation calls`)
  },
)

/** A conversation of one long branch. */
function long({ id, nodes, text, updateTime }: { id: string; nodes: number; text: string; updateTime: number }) {
  const mapping: Record<string, unknown> = {}
  for (let index = 0; index < nodes; index++) {
    mapping[`n${index}`] = {
      id: `n${index}`,
      parent: index === 0 ? null : `n${index - 1}`,
      children: [`n${index + 1}`],
      message: {
        id: `n${index}`,
        author: { role: index % 2 === 0 ? 'user' : 'assistant' },
        create_time: 1_760_000_000 + index,
        content: { content_type: 'text', parts: [`${index} ${text}`] },
      },
    }
  }
  const times = { create_time: 1_760_000_000, update_time: updateTime }
  return { id, title: id, ...times, current_node: `n${nodes - 1}`, mapping }
}

reading('a conversation larger than a document may be is stored in parts, and again when it changed', async () => {
  const account = 'large@example.test'
  const text = Array.from({ length: 9_000 }, (_, index) => (index * 7919).toString(36)).join(' ')
  const put = (nodes: number, updateTime: number) =>
    world.site.control({ action: 'put', account, id: 'large', raw: long({ id: 'large', nodes, text, updateTime }) })
  await put(500, 1_760_000_000)
  const id = await connected(world, { userRef: 'large', email: account })
  const stored = async () => {
    const found = (await storedOf(await connectionOf(id))).find(({ externalId }) => externalId === 'large')
    if (!found) throw new Error('not stored')
    return found
  }
  await complete(id)
  const large = await stored()
  assert.is((await bodyOf(large))?.payloadGzip, undefined)
  assert.ok((large.payloadParts ?? 0) >= 3)
  assert.is((await payloadOf(large)).messages.length, 500)
  const { mapping } = (await rawOf(large)) as { mapping: object }
  assert.is(Object.keys(mapping).length, 500)
  await put(480, 1_760_000_100)
  await syncAgain(id)
  assert.is((await payloadOf(await stored())).messages.length, 480)
  const parts = await ConversationParts.find({ conversationId: large._id }).lean()
  assert.is(new Set(parts.map(({ version }) => version)).size, 1, 'the old version is gone')
  await put(3, 1_760_000_200)
  await syncAgain(id)
  const small = await stored()
  assert.is((await payloadOf(small)).messages.length, 3)
  assert.equal([small._id, small.payloadParts], [large._id, undefined])
  assert.is(await ConversationParts.countDocuments({ conversationId: large._id }), 0)
})

reading('a tree of 50,000 messages is stored whole', async () => {
  const account = 'tree@example.test'
  const raw = long({ id: 'tree', nodes: 50_000, text: 'x', updateTime: 1_760_000_000 })
  await world.site.control({ action: 'put', account, id: 'tree', raw })
  const id = await connected(world, { userRef: 'tree', email: account })
  const tree = (await storedOf(await complete(id))).find(({ externalId }) => externalId === 'tree')
  assert.ok(tree)
  assert.is((await payloadOf(tree)).messages.length, 50_000)
})

reading(
  'files are stored once and encrypted; one that cannot be fetched holds up nothing and is tried again',
  async () => {
    const email = 'branches+files@example.test'
    await world.site.control({ action: 'fail', mode: 'garbage', path: '/files/file-cat/download', account: email })
    const id = await connected(world, { userRef: 'files', email })
    const connection = await complete(id)
    const { archiveId = '' } = connection
    const states = async () => {
      const files = await Attachments.find({ archiveId }).lean()
      return new Map(files.map(({ fileId, state }) => [fileId, state]))
    }
    assert.is((await states()).get('file-cat'), 'waiting')
    assert.ok([...(await states()).values()].includes('missing'))
    await syncAgain(id)
    assert.is((await states()).get('file-cat'), 'stored')
    if (!isKeyed(connection)) throw new Error('no key')
    const key = openArchiveKey({ connection, keyring: world.keyring })
    const sealed = await readAttachmentBytes({ id: `${archiveId}|file-cat` })
    assert.is(unseal(key, { owner: archiveId, purpose: ATTACHMENT_PURPOSE }, sealed).length, 1234)
    const { file } = await callsOf(world, email)
    await syncAgain(id)
    assert.is((await callsOf(world, email)).file, file, 'a stored file is not fetched again')
  },
)

reading.run()
