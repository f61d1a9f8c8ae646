import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Conversation, Conversations } from '../../../schemas/archive/conversation.ts'
import { LONGEST_EXTERNAL_ID } from '../../../schemas/archive/external-id.ts'
import { Accounts } from '../../../schemas/connection/account.ts'
import { LONGEST_TITLE } from '../../../wire/conversations.ts'
import { type ActorWorld, startActorWorld } from '../../support/actors.ts'
import { rawConversation } from './raw-conversation.ts'
import { bodyOf, complete, connected, connectionOf, ingest, payloadOf, rawOf, storedOf, syncAgain } from './support.ts'

const odd = suite('odd conversations')
let world: ActorWorld
odd.before(async () => {
  world = await startActorWorld()
})
odd.after(() => world.stop())

const MILLION = 1_000_000

interface Odd {
  id?: string
  title?: string | null
  text?: string
  files?: string[]
}

const conversation = ({ id = 'odd', title = 'Odd', text = 'text', files = [] }: Odd) =>
  rawConversation({ id, title, text, updateTime: 1_760_000_000, fileIds: files })

/** What no index takes, and no compression makes shorter. */
const noise = (length: number): string => {
  let text = ''
  for (let index = 1; text.length < length; index++) text += Math.imul(index, 2_654_435_761).toString(36)
  return text.slice(0, length)
}

/** Ingests it before a plain one, which has to be stored whatever the other is; returns how it was stored. */
async function ingested(name: string, given: Odd): Promise<Conversation | undefined> {
  const connectionId = await connected(world, { userRef: name, email: `empty+${name}@example.test` })
  await complete(connectionId)
  const conversations = [conversation(given), conversation({ id: 'plain', title: 'Plain' })]
  const { result, failure } = await ingest(world, { connectionId, conversations })
  assert.ok(result, failure?.code)
  const stored = await storedOf(await connectionOf(connectionId))
  assert.ok(stored.some(({ externalId }) => externalId === 'plain'))
  assert.is(stored.length, result.inserted)
  return stored.find(({ externalId }) => externalId !== 'plain')
}

const titles = {
  'of 17 million characters': ['T'.repeat(17 * MILLION), LONGEST_TITLE],
  'that would be cut within a character': [`${'T'.repeat(LONGEST_TITLE - 1)}😀 and more`, LONGEST_TITLE - 1],
  'that is just short enough': ['T'.repeat(LONGEST_TITLE), LONGEST_TITLE],
} as const

for (const [name, [title, length]] of Object.entries(titles))
  odd(`a title ${name}: cut in the listing, whole in the payload`, async () => {
    const stored = await ingested(`title-${title.length}-${length}`, { title })
    assert.ok(stored)
    assert.ok(stored.title === title.slice(0, length), 'its beginning')
    assert.ok((await payloadOf(stored)).title === title, 'the whole of it')
  })

odd('a message of more than a document may hold is stored whole', async () => {
  const text = noise(17 * MILLION)
  const stored = await ingested('message', { text })
  assert.ok(stored)
  const [message] = (await payloadOf(stored)).messages as [{ content: string }]
  assert.ok(message.content === text)
})

odd('an id that nothing can be stored under holds up nothing; one just short enough is stored', async () => {
  assert.is(await ingested('id-huge', { id: noise(17 * MILLION) }), undefined)
  assert.is(await ingested('id-longer', { id: 'é'.repeat(LONGEST_EXTERNAL_ID / 2 + 1) }), undefined)
  assert.is(await ingested('id-half', { id: 'a\ud800' }), undefined)
  const id = noise(LONGEST_EXTERNAL_ID)
  assert.is((await ingested('id-long', { id }))?.externalId, id)
})

odd('a file whose id is none does not keep its conversation from being stored', async () => {
  for (const length of [3_000, 17 * MILLION])
    assert.ok(await ingested(`file-${length}`, { files: [noise(length), 'file-a'] }))
  assert.ok(await ingested('file-half', { files: ['file-\ud800', 'file-a'] }))
})

odd('zeros and halves of characters are kept', async () => {
  const stored = await ingested('zeros', { title: 'a\u0000b\ud800c', text: 'x\u0000y\udfffz' })
  assert.ok(stored)
  const { title, messages } = await payloadOf(stored)
  assert.equal([title, (messages[0] as { content: string }).content], ['a\u0000b\ud800c', 'x\u0000y\udfffz'])
})

odd('a sync goes on past a title that is too long', async () => {
  const account = 'long-title@example.test'
  const connectionId = await connected(world, { userRef: 'long-title', email: account })
  await complete(connectionId)
  const title = 'T'.repeat(16.5 * MILLION)
  // With the bytes that it came in the document would be too large.
  const raw = { ...conversation({ id: 'long-title', title }), noise: noise(1.2 * MILLION) }
  await world.site.control({ action: 'put', account, id: 'long-title', raw })
  await world.site.control({ action: 'add', account, id: 'another' })
  await syncAgain(connectionId)
  const connection = await connectionOf(connectionId)
  assert.is(connection.crashes, 0)
  const ids = (await storedOf(connection)).map(({ externalId }) => externalId)
  assert.ok(ids.includes('long-title') && ids.includes('another'))
})

const MANY_VALUES = Array.from({ length: 1_100_000 }, () => ({}))

odd('a conversation of too many values is noted as unreadable, and those beside it are stored', async () => {
  const account = 'many-values@example.test'
  const connectionId = await connected(world, { userRef: 'many-values', email: account })
  await complete(connectionId)
  const raw = { ...conversation({ id: 'many-values', title: 'x' }), noise: MANY_VALUES }
  await world.site.control({ action: 'put', account, id: 'many-values', raw })
  await world.site.control({ action: 'add', account, id: 'beside' })
  await syncAgain(connectionId)
  const connection = await connectionOf(connectionId)
  assert.is(connection.crashes, 0)
  const ids = (await storedOf(connection)).map(({ externalId }) => externalId)
  assert.ok(ids.includes('beside') && !ids.includes('many-values'))
  const { backfill } = (await Accounts.findById(connection.accountId).lean()) ?? {}
  assert.equal(backfill?.unread, ['many-values'])
})

odd('an export with such a conversation is refused whole, and says why', async () => {
  const account = 'many-in-export@example.test'
  const connectionId = await connected(world, { userRef: 'many-in-export', email: account })
  await complete(connectionId)
  const raw = { ...conversation({ id: 'many-in-export', title: 'x' }), noise: MANY_VALUES }
  const { failure } = await ingest(world, {
    connectionId,
    conversations: [conversation({ id: 'good', title: 'x' }), raw],
  })
  assert.equal(failure, { code: 'body_too_large', values: { limit: '1000000 values in one conversation' } })
  assert.not.ok((await storedOf(await connectionOf(connectionId))).some(({ externalId }) => externalId === 'good'))
})

odd('the provider’s own objects are kept as they came, of syncs and of exports, small and large', async () => {
  const account = 'branches+raw@example.test'
  const text = noise(2 * MILLION)
  await world.site.control({ action: 'put', account, id: 'large', raw: conversation({ id: 'large', text }) })
  const synced = await connected(world, { userRef: 'raw', email: account })
  const stored = await storedOf(await complete(synced))
  const { conversations } = await world.site.control<{ conversations: { id: string }[] }>({ action: 'export', account })
  assert.ok(stored.length > 1 && stored.length === conversations.length)
  const bodies = await Promise.all(stored.map(bodyOf))
  const kept = new Set(bodies.map((body) => body?.raw !== undefined))
  assert.equal([...kept].sort(), [false, true], 'some in the body, some in parts')
  const ofProvider = new Map(conversations.map((conversation) => [conversation.id, conversation]))
  for (const conversation of stored) assert.equal(await rawOf(conversation), ofProvider.get(conversation.externalId))

  const connectionId = await connected(world, { userRef: 'raw-export', email: 'empty+raw@example.test' })
  await complete(connectionId)
  await ingest(world, { connectionId, conversations })
  const { archiveId = '' } = await connectionOf(connectionId)
  assert.is(await Conversations.countDocuments({ archiveId }), conversations.length)
  for (const conversation of await storedOf({ archiveId }))
    assert.equal(await rawOf(conversation), ofProvider.get(conversation.externalId))
})

odd.run()
