import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MongoClient } from 'mongodb'

/**
 * What the machine can do at all: the bare driver's queries and JSON.stringify behind `node:http`, with no authentication, limits,
 * or checks. `?archiveId=&skip=&limit=` for a page of conversations that hold their texts (`bench_conversations`), `?userId=` for a user's connections
 * with their counts, `?counter=` for one atomic count.
 */
const RECENT_MS = 30 * 24 * 3_600_000

const client = new MongoClient(process.env['MONGODB_URL'] ?? '')
await client.connect()
const conversations = client.db().collection('conversations')
const whole = client.db().collection('bench_conversations')
const connections = client.db().collection('connections')

const countsOf = (archiveIds: string[], more: object = {}) =>
  conversations
    .aggregate([
      { $match: { archiveId: { $in: archiveIds }, ...more } },
      { $group: { _id: '$archiveId', count: { $sum: 1 } } },
    ])
    .toArray()

async function connectionsOf(userId: string) {
  const documents = await connections.find({ userId }).sort({ capturedAt: -1 }).toArray()
  const archiveIds = documents.map((document) => String(document['archiveId']))
  const since = new Date(Date.now() - RECENT_MS)
  const counts = await Promise.all([countsOf(archiveIds), countsOf(archiveIds, { firstMessageAt: { $gte: since } })])
  return { documents, counts }
}

async function pageOf(query: URLSearchParams) {
  const documents = await whole
    .find({ archiveId: query.get('archiveId') })
    .sort({ updateTime: -1, _id: -1 })
    .skip(Number(query.get('skip') ?? 0))
    .limit(Number(query.get('limit') ?? 50))
    .toArray()
  return { documents }
}

/** One atomic count, as a rate limit needs at the least. */
const count = (name: string) =>
  client
    .db()
    .collection<{ _id: string }>('bench_counters')
    .findOneAndUpdate({ _id: name }, { $inc: { count: 1 } }, { upsert: true, returnDocument: 'after' })

const server = createServer(async (request, response) => {
  const query = new URL(request.url ?? '', 'http://floor').searchParams
  const userId = query.get('userId')
  const counter = query.get('counter')
  const answer = counter ? await count(counter) : userId ? await connectionsOf(userId) : await pageOf(query)
  response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
})
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.on('disconnect', () => process.exit(0))
