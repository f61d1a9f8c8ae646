import { randomUUID } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Conversation, Conversations } from '../../../schemas/archive/conversation.ts'
import { bodyId, ConversationBodies } from '../../../schemas/archive/conversation-body.ts'
import { Connections } from '../../../schemas/connection/connection.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { seedConnection, seedConversations } from '../../support/seed.ts'

interface Listing {
  conversations: {
    id: string
    external_id: string
    title: string | null
    payload: object | null
    update_time: string | null
  }[]
  total: number
  limit: number
  offset: number
  nextCursor: string | null
}

let world: HttpWorld
let connectionId = ''
let archiveId = ''
let all: Conversation[] = []
const COUNT = 250

test.before(async () => {
  world = await startHttpWorld()
  const connection = await seedConnection({ appId: 'app-one', userRef: 'reader' })
  connectionId = connection._id
  archiveId = connection.archiveId ?? ''
  // Ties of update time, and some without one: the order has to hold for them too.
  all = await seedConversations({
    archiveId,
    count: COUNT,
    make: (index) => ({
      updateTime: index % 10 === 9 ? null : new Date(1_700_000_000_000 + Math.floor(index / 3) * 1_000),
    }),
  })
  all.sort((a, b) => {
    const byTime = (b.updateTime?.getTime() ?? -1) - (a.updateTime?.getTime() ?? -1)
    return byTime || (a._id < b._id ? 1 : -1)
  })
})
test.after(async () => {
  await world.stop()
})

const list = (query: string, options = {}) =>
  world.ask<Listing>(`/api/conversations?connectionId=${connectionId}${query}`, options)
const ids = (listing: Listing) => listing.conversations.map(({ id }) => id)
const expected = (from: number, to: number) => all.slice(from, to).map(({ _id }) => _id)

test('answers a page with every field', async () => {
  const { status, body } = await list('')
  assert.is(status, 200)
  assert.equal([body.total, body.limit, body.offset], [COUNT, 50, 0])
  assert.equal(ids(body), expected(0, 50))
  const [first] = all
  assert.equal(body.conversations[0], {
    id: first?._id,
    external_id: first?.externalId,
    title: first?.title,
    payload: JSON.parse(first?.payload ?? ''),
    update_time: first?.updateTime?.toISOString(),
  })
})

test('every offset answers its part of the order, also when read again', async () => {
  for (let round = 0; round < 2; round++) {
    for (const [offset, limit] of [
      [0, 100],
      [100, 100],
      [200, 100],
      [37, 1],
      [225, 10],
      [249, 5],
      [250, 5],
      [9_999, 5],
    ] as const) {
      const { body } = await list(`&offset=${offset}&limit=${limit}`)
      assert.equal(ids(body), expected(offset, offset + limit), `offset ${offset}`)
      assert.equal([body.total, body.limit, body.offset], [COUNT, limit, offset])
    }
  }
})

test('limits beyond 100 are capped', async () => {
  for (const limit of ['101', '1000000', '9'.repeat(400)]) {
    const { body } = await list(`&limit=${limit}`)
    assert.is(body.limit, 100)
    assert.is(body.conversations.length, 100)
  }
})

test('tells what is wrong with a request', async () => {
  const cases: [string, number, string][] = [
    ['', 400, 'Missing connectionId parameter'],
    ['?connectionId=', 400, 'Missing connectionId parameter'],
    ['?connectionId[$gt]=', 400, 'Missing connectionId parameter'],
    ['?connectionId=nope', 400, 'Invalid connectionId parameter: must be a UUID'],
    ['?connectionId=%00', 400, 'Invalid connectionId parameter: must be a UUID'],
    [
      `?connectionId=${connectionId}&connectionId=${connectionId}`,
      400,
      'Invalid connectionId parameter: must be given once',
    ],
    [`?connectionId=${randomUUID()}`, 404, 'Connection not found'],
    [`?connectionId=${connectionId}&limit=-1`, 400, 'Invalid limit parameter: must be a whole number'],
    [`?connectionId=${connectionId}&limit=ten`, 400, 'Invalid limit parameter: must be a whole number'],
    [`?connectionId=${connectionId}&limit=1.5`, 400, 'Invalid limit parameter: must be a whole number'],
    [`?connectionId=${connectionId}&limit=`, 400, 'Invalid limit parameter: must be a whole number'],
    [`?connectionId=${connectionId}&limit=0`, 400, 'Invalid limit parameter: must be at least 1'],
    [`?connectionId=${connectionId}&limit=1&limit=2`, 400, 'Invalid limit parameter: must be given once'],
    [`?connectionId=${connectionId}&offset=-5`, 400, 'Invalid offset parameter: must be a whole number'],
    [`?connectionId=${connectionId}&offset=1e3`, 400, 'Invalid offset parameter: must be a whole number'],
    [`?connectionId=${connectionId}&offset=99999999999`, 400, 'Invalid offset parameter: must be at most 2147483647'],
    [`?connectionId=${connectionId}&cursor=abc`, 400, 'Invalid cursor parameter: must be a nextCursor of this listing'],
    [
      `?connectionId=${connectionId}&cursor=abc&offset=3`,
      400,
      'Invalid cursor parameter: cannot be combined with offset',
    ],
    [
      `?connectionId=${connectionId}&updatedAfter=yesterday`,
      400,
      'Invalid updatedAfter parameter: must be an ISO 8601 time with a time zone',
    ],
  ]
  for (const [query, status, error] of cases) {
    const answer = await world.ask(`/api/conversations${query}`)
    assert.equal([answer.status, answer.body], [status, { error }], query)
  }
  const other = await list('', { key: world.two.apiKey })
  assert.equal([other.status, other.body], [404, { error: 'Connection not found' }])
})

async function walk(query: string, meanwhile: () => Promise<void> = async () => undefined): Promise<string[]> {
  const seen: string[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body }: { body: Listing } = await list(`&limit=40${query}${cursor && `&cursor=${cursor}`}`)
    seen.push(...ids(body))
    cursor = body.nextCursor
    await meanwhile()
  }
  return seen
}

test('a cursor walks everything once', async () => {
  assert.equal(await walk(''), expected(0, COUNT))
})

test('updatedAfter filters, with offsets and cursors', async () => {
  const after = new Date(1_700_000_000_000 + 40_000)
  const wanted = all.filter(({ updateTime }) => updateTime && updateTime > after).map(({ _id }) => _id)
  const query = `&updatedAfter=${encodeURIComponent(after.toISOString())}`
  assert.equal(await walk(query), wanted)
  const { body } = await list(`${query}&offset=10&limit=5`)
  assert.equal([ids(body), body.total], [wanted.slice(10, 15), wanted.length])
})

test('a cursor stays stable while a sync writes', async () => {
  const other = await seedConnection({ appId: 'app-one', userRef: 'moving' })
  const seeded = await seedConversations({ archiveId: other.archiveId ?? '', count: 200 })
  const saved = connectionId
  connectionId = other._id
  let time = 1_800_000_000_000
  const seen = await walk('', async () => {
    time += 1_000
    await seedConversations({
      archiveId: other.archiveId ?? '',
      count: 5,
      make: (index) => ({ externalId: `new-${time}-${index}`, updateTime: new Date(time + index) }),
    })
  })
  connectionId = saved
  assert.is(new Set(seen).size, seen.length)
  const seededIds = new Set(seeded.map(({ _id }) => _id))
  assert.is(seen.filter((id) => seededIds.has(id)).length, 200)
})

test('what was learned of an order is not believed once somebody wrote', async () => {
  const moving = await seedConnection({ appId: 'app-one', userRef: 'learned' })
  const path = `/api/conversations?connectionId=${moving._id}&limit=10&offset=20`
  await seedConversations({ archiveId: moving.archiveId ?? '', count: 50 })
  const before = (await world.ask<Listing>(path)).body
  await Connections.updateOne({ _id: moving._id }, { $inc: { fence: 1 }, $set: { claimedBy: 'a sync' } })
  await seedConversations({
    archiveId: moving.archiveId ?? '',
    count: 10,
    make: (index) => ({ externalId: `later-${index}`, updateTime: new Date(1_900_000_000_000 + index) }),
  })
  const during = (await world.ask<Listing>(path)).body
  await Connections.updateOne({ _id: moving._id }, { $unset: { claimedBy: 1 } })
  const after = (await world.ask<Listing>(path)).body
  assert.equal([before.total, during.total, after.total], [50, 60, 60])
  assert.equal(ids(during), ids(after))
  const earlier = (await world.ask<Listing>(path.replace('offset=20', 'offset=30'))).body
  assert.equal(ids(earlier), ids(before))
})

test('of an archive that a sync is at work on, what was learned holds between two batches of that sync alone', async () => {
  const moving = await seedConnection({ appId: 'app-one', userRef: 'between-batches', fence: 7, claimedBy: 'a sync' })
  const path = `/api/conversations?connectionId=${moving._id}&limit=10&offset=20`
  const { archiveId = '' } = moving
  let stored = 0
  const store = async (): Promise<void> => {
    await seedConversations({ archiveId, count: 30, make: (index) => ({ externalId: `ext-${stored + index}` }) })
    stored += 30
  }
  const total = async () => (await world.ask<Listing>(path)).body.total
  const say = (update: object) => Connections.updateOne({ _id: moving._id }, update)
  await store()
  await say({ $set: { settled: { fence: 7, batches: 1 } } })
  assert.is(await total(), 30)
  await say({ $unset: { settled: 1 } })
  assert.is(await total(), 30)
  await store()
  assert.is(await total(), 60)
  await say({ $set: { settled: { fence: 7, batches: 2 } } })
  assert.is(await total(), 60)
  // Nobody of the service stores anything here: nothing is counted anew.
  await store()
  assert.is(await total(), 60)
  // What an earlier holder said.
  await say({ $set: { fence: 8 } })
  assert.is(await total(), 90)
  await store()
  assert.is(await total(), 120)
})

test('304 where nothing changed, with the RateLimit headers', async () => {
  const first = await list('&limit=3')
  const tag = first.headers.get('etag') ?? ''
  assert.match(tag, /^W\/"/)
  const again = await list('&limit=3', { headers: { 'if-none-match': tag } })
  assert.equal([again.status, again.text], [304, ''])
  assert.ok(again.headers.get('ratelimit-remaining'))
  const [newest] = all
  assert.ok(newest)
  await ConversationBodies.create({
    _id: bodyId({ ...newest, hash: 'another' }),
    archiveId,
    payload: '{"title":null,"messages":[]}',
  })
  await Conversations.updateOne({ _id: newest._id }, { $set: { hash: 'another' } })
  assert.is((await list('&limit=3', { headers: { 'if-none-match': tag } })).status, 200)
})

test('a revoked connection has no conversations', async () => {
  const { _id } = await seedConnection({ appId: 'app-one', userRef: 'gone', status: 'revoked' })
  await Connections.updateOne({ _id }, { $unset: { archiveId: 1 } })
  const { body } = await world.ask<Listing>(`/api/conversations?connectionId=${_id.toUpperCase()}`)
  assert.equal(body, { conversations: [], total: 0, limit: 50, offset: 0, nextCursor: null })
})

test.run()
