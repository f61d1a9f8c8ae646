import type { IncomingMessage, ServerResponse } from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'

let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
})
test.after(() => world.stop())

test('a request and its answer keep the prototypes that they were made with', async () => {
  const seen: { object: object; madeWith: object }[] = []
  world.server.prependOnceListener('request', (request: IncomingMessage, response: ServerResponse) => {
    for (const object of [request, response]) seen.push({ object, madeWith: Object.getPrototypeOf(object) })
  })
  const { status } = await world.ask('/api/connections?userRef=nobody')
  assert.is(status, 404)
  assert.is(seen.length, 2)
  for (const { object, madeWith } of seen) assert.is(Object.getPrototypeOf(object), madeWith)
})

test.run()
