import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { MongoClient } from 'mongodb'
import { Agent } from 'undici'
import { signAndPost } from '../deliveries/bare.ts'

/**
 * The least that a service does which answers once an event is on disk and then sends it: the bare driver's insert behind `node:http`, and a
 * post of the same process. One that is killed between the two loses the event.
 */
const [receiver = ''] = process.argv.slice(2)
const client = new MongoClient(process.env['MONGODB_URL'] ?? '', { writeConcern: { w: 'majority' } })
await client.connect()
const events = client.db().collection<{ _id: string }>('bench_events')
const agent = new Agent()

const server = createServer(async (request, response) => {
  request.resume()
  const deliveryId = randomUUID()
  const body = JSON.stringify({
    event: 'test.event',
    payload: { userRef: 'test', message: 'A test event' },
    deliveryId,
  })
  await events.insertOne({ _id: deliveryId, body } as { _id: string })
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ deliveryId }))
  await signAndPost({ agent, url: receiver, secret: 'bench-secret', body })
})
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
process.on('disconnect', () => process.exit(0))
