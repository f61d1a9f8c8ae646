import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MongoClient } from 'mongodb'

/**
 * What the machine can do at all: the bare driver's query and JSON.stringify behind `node:http`, with no authentication, limits,
 * checks or counts. `?archiveId=&skip=&limit=` for a page of conversations, `?userId=` for a user's connections.
 */
const client = new MongoClient(process.env['MONGODB_URL'] ?? '')
await client.connect()
const conversations = client.db().collection('conversations')
const connections = client.db().collection('connections')

const server = createServer(async (request, response) => {
  const query = new URL(request.url ?? '', 'http://floor').searchParams
  const userId = query.get('userId')
  const documents = userId
    ? await connections.find({ userId }).sort({ capturedAt: -1 }).toArray()
    : await conversations
        .find({ archiveId: query.get('archiveId') })
        .project({ raw: 0 })
        .sort({ updateTime: -1, _id: -1 })
        .skip(Number(query.get('skip') ?? 0))
        .limit(Number(query.get('limit') ?? 50))
        .toArray()
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ documents }))
})
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.on('disconnect', () => process.exit(0))
