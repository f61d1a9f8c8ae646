import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { deleteArchive } from '../../../actors/archive/purge-data.ts'
import { gzipPiece, textOf } from '../../../core/gzip-pieces.ts'
import { Conversations } from '../../../schemas/archive/conversation.ts'
import { bodyId, ConversationBodies, readPayloads } from '../../../schemas/archive/conversation-body.ts'
import { ConversationParts, cutParts } from '../../../schemas/archive/conversation-part.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { seedConnection, seedConversations } from '../../support/seed.ts'

interface Listing {
  conversations: { id: string; external_id: string; title: string | null; payload: object | null }[]
  total: number
}

let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
})
test.after(async () => {
  await world.stop()
})

const TEXTS = ['plain', 'ä € 😀 "quoted" \\ \n', 'one '.repeat(20_000), '']

/** A connection whose conversations have these texts, newest first; every other one lies there as an earlier release stored it. */
async function seedTexts(userRef: string): Promise<string> {
  const { _id, archiveId = '' } = await seedConnection({ appId: 'app-one', userRef })
  const conversations = await seedConversations({
    archiveId,
    count: TEXTS.length,
    make: (index) => ({
      title: `Title ä ${index}`,
      updateTime: new Date(1_700_000_000_000 - index * 1_000),
      payload: JSON.stringify({ title: null, messages: [{ role: 'user', content: TEXTS[index], timestamp: null }] }),
    }),
  })
  for (const [index, { payload, ...conversation }] of conversations.entries())
    if (index % 2 === 1)
      await ConversationBodies.updateOne(
        { _id: bodyId(conversation) },
        { $set: { payload }, $unset: { payloadGzip: 1 } },
      )
  return `/api/conversations?connectionId=${_id}`
}

test('a page is the same text in every encoding', async () => {
  const path = await seedTexts('encodings')
  for (const [accepts, encoding] of [
    ['identity', null],
    ['gzip', 'gzip'],
    ['br', 'br'],
    ['deflate, gzip;q=0.5, br;q=0', 'gzip'],
    ['gzip;q=0', null],
  ] as const) {
    const { headers, body } = await world.ask<Listing>(path, { headers: { 'accept-encoding': accepts } })
    assert.is(headers.get('content-encoding'), encoding, accepts)
    assert.match(headers.get('vary') ?? '', /Accept-Encoding/)
    assert.is(headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(
      body.conversations.map(({ title, payload }) => [title, payload]),
      TEXTS.map((content, index) => [
        `Title ä ${index}`,
        { title: null, messages: [{ role: 'user', content, timestamp: null }] },
      ]),
      accepts,
    )
  }
})

test('what an earlier release stored is compressed too', async () => {
  const { _id, archiveId = '' } = await seedConnection({ appId: 'app-one', userRef: 'stored-as-text' })
  const payload = JSON.stringify({
    title: null,
    messages: [{ role: 'user', content: 'word '.repeat(20_000), timestamp: null }],
  })
  for (const { payload: _, ...conversation } of await seedConversations({
    archiveId,
    count: 3,
    make: () => ({ payload }),
  }))
    await ConversationBodies.updateOne({ _id: bodyId(conversation) }, { $set: { payload }, $unset: { payloadGzip: 1 } })
  const { headers, text } = await world.ask(`/api/conversations?connectionId=${_id}`, {
    headers: { 'accept-encoding': 'gzip' },
  })
  assert.is(headers.get('content-encoding'), 'gzip')
  assert.ok(text.length > 300_000)
  assert.ok(Number(headers.get('content-length')) < text.length / 10, headers.get('content-length') ?? '')
})

test('a page that is small is sent as it is', async () => {
  const path = await seedTexts('small')
  const { headers } = await world.ask(`${path}&limit=1`, { headers: { 'accept-encoding': 'gzip' } })
  assert.is(headers.get('content-encoding'), null)
})

test('a conversation larger than a document is served whole', async () => {
  const large = await seedConnection({ appId: 'app-one', userRef: 'large' })
  const text = JSON.stringify({
    title: 'Large',
    messages: [{ role: 'user', content: 'ä'.repeat(9_000_000), timestamp: null }],
  })
  const [conversation] = await seedConversations({
    archiveId: large.archiveId ?? '',
    count: 2,
    make: (index) => (index === 0 ? { payload: null, payloadParts: 3, title: 'Large' } : {}),
  })
  const parts = cutParts({
    archiveId: large.archiveId ?? '',
    conversationId: conversation?._id ?? '',
    kind: 'payload',
    bytes: Buffer.from(text),
  })
  assert.is(parts.length, 3)
  for (const part of parts) await ConversationParts.create(part)
  const path = `/api/conversations?connectionId=${large._id}`
  const { body, headers } = await world.ask<Listing>(path)
  assert.is(body.total, 2)
  assert.ok(JSON.stringify(body.conversations[1]?.payload) === text)
  const again = await world.ask(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } })
  assert.is(again.status, 304)
})

/** Conversations whose texts lie in so many parts each; returns where they are listed. */
async function seedLarge({
  userRef,
  count,
  characters,
  parts,
}: {
  userRef: string
  count: number
  characters: number
  parts: number
}) {
  const { _id, archiveId = '' } = await seedConnection({ appId: 'app-one', userRef })
  const make = () => ({ payload: null, payloadParts: parts, title: 'Large' })
  const bytes = Buffer.from(JSON.stringify({ title: 'Large', messages: [{ content: 'x'.repeat(characters) }] }))
  for (const { _id: conversationId } of await seedConversations({ archiveId, count, make }))
    for (const part of cutParts({ archiveId, conversationId, kind: 'payload', bytes }))
      await ConversationParts.create(part)
  return { path: `/api/conversations?connectionId=${_id}`, archiveId, bytes }
}

test('large conversations that are deleted while those before them are still being sent are left out', async () => {
  const { path, archiveId, bytes } = await seedLarge({
    userRef: 'large-and-deleted',
    count: 3,
    characters: 18_000_000,
    parts: 3,
  })
  // Reads nothing yet: the service waits with the first one on its way.
  const answer = await fetch(`${world.url}${path}`, {
    headers: { authorization: `Bearer ${world.one.apiKey}`, 'accept-encoding': 'identity' },
  })
  await deleteArchive({ archiveId })
  const { conversations, total } = (await answer.json()) as Listing
  assert.is(total, 3)
  assert.is(conversations.length, 1)
  assert.is(JSON.stringify(conversations[0]?.payload).length, bytes.length)
})

for (const encoding of ['identity', 'gzip']) {
  test(`a page of large conversations leaves nothing on its answer for each time that it waits: ${encoding}`, async () => {
    const { path } = await seedLarge({ userRef: `many-large-${encoding}`, count: 12, characters: 2_000_000, parts: 1 })
    let most = 0
    const look = (_: unknown, response: ServerResponse): void => {
      response.on('drain', () => {
        most = Math.max(most, response.listenerCount('close'), response.listenerCount('error'))
      })
    }
    // What compresses an answer keeps the listeners of `drain` for itself: Node warns of too many.
    const warnings: string[] = []
    const hear = ({ message }: Error): void => void warnings.push(message)
    process.on('warning', hear)
    world.server.on('request', look)
    const answer = await fetch(`${world.url}${path}`, {
      headers: { authorization: `Bearer ${world.one.apiKey}`, 'accept-encoding': encoding },
    })
    assert.is(((await answer.json()) as Listing).conversations.length, 12)
    world.server.off('request', look)
    process.off('warning', hear)
    assert.ok(most < 10, `${most} listeners`)
    assert.equal(warnings, [])
  })
}

test('a page of little that unpacks to a lot is not held in memory until it is read', async () => {
  const { _id, archiveId = '' } = await seedConnection({ appId: 'app-one', userRef: 'unpacks' })
  const content = 'a'.repeat(1_000_000)
  const payload = JSON.stringify({ title: null, messages: [{ role: 'user', content, timestamp: null }] })
  await seedConversations({ archiveId, count: 50, make: () => ({ payload }) })
  let response: ServerResponse | undefined
  world.server.once('request', (_, its) => {
    response = its
  })
  // Reads nothing yet.
  const answer = await fetch(`${world.url}/api/conversations?connectionId=${_id}`, {
    headers: { authorization: `Bearer ${world.one.apiKey}`, 'accept-encoding': 'identity' },
  })
  assert.ok((response?.writableLength ?? 0) < 10_000_000, `${response?.writableLength} bytes`)
  const { conversations } = (await answer.json()) as Listing
  assert.is(conversations.length, 50)
  assert.ok(conversations.every((each) => JSON.stringify(each.payload) === payload))
})

test('a conversation that an earlier release stored, with its text in itself, is served', async () => {
  const earlier = await seedConnection({ appId: 'app-one', userRef: 'earlier' })
  const [conversation] = await seedConversations({ archiveId: earlier.archiveId ?? '', count: 1 })
  const { _id = '', payload = '' } = conversation ?? {}
  await Conversations.updateOne({ _id }, { $set: { payload } })
  await ConversationBodies.deleteMany({ archiveId: earlier.archiveId ?? '' })
  const { body } = await world.ask<Listing>(`/api/conversations?connectionId=${earlier._id}`)
  assert.equal(body.conversations[0]?.payload, JSON.parse(payload ?? ''))
})

test('a page that could not be read leaves its tag with nobody', async () => {
  const { _id, archiveId = '' } = await seedConnection({ appId: 'app-one', userRef: 'without-text' })
  const [conversation] = await seedConversations({ archiveId, count: 1 })
  assert.ok(conversation)
  const body = await ConversationBodies.findById(bodyId(conversation)).lean()
  await ConversationBodies.deleteMany({ archiveId })
  const busy = await world.ask(`/api/conversations?connectionId=${_id}`)
  assert.is(busy.status, 503)
  assert.is(busy.headers.get('etag'), null)
  assert.ok(body)
  await ConversationBodies.create(body)
  const read = await world.ask(`/api/conversations?connectionId=${_id}`)
  assert.is(read.status, 200)
  assert.ok(read.headers.has('etag'))
})

test('what changes while it is read is served as it is then, what is deleted is left out', async () => {
  const [first, second, third] = await seedConversations({ archiveId: randomUUID(), count: 3 })
  assert.ok(first && second && third)
  const entries = [first, second, third].map(({ payload: _, ...entry }) => entry)
  const changed = { updateTime: new Date(1_800_000_000_000), hash: 'another' }
  const payload = '{"title":"Changed","messages":[]}'
  const { archiveId: its } = first
  await ConversationBodies.create({
    _id: bodyId({ ...first, ...changed }),
    archiveId: its,
    payloadGzip: await gzipPiece(payload),
  })
  await Conversations.updateOne({ _id: first._id }, { $set: changed })
  await ConversationBodies.deleteMany({ _id: bodyId(first) })
  await ConversationBodies.deleteMany({ _id: bodyId(second) })
  await Conversations.deleteMany({ _id: second._id })
  const read = await readPayloads(entries)
  assert.equal(
    read.map((each) => [each._id, textOf(each.payload ?? ''), each.updateTime]),
    [
      [first._id, payload, changed.updateTime],
      [third._id, third.payload, third.updateTime],
    ],
  )
})

test.run()
