import type { RequestListener, ServerResponse } from 'node:http'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createProviderClient } from '../../provider/client.ts'
import { sandboxProfile } from '../../provider/profile.ts'
import { until } from '../support/until.ts'
import { withProvider } from './own-provider.ts'
import { fastClock } from './sandbox.ts'

/** A provider where every `every`th good call replaces the cookie and the old one is over at once. */
function strictProvider(every: number): { handler: RequestListener; rotations: () => number } {
  let turn = 0
  let calls = 0
  const cookie = () => (turn === 0 ? 'c' : `c${turn}`)
  const handler: RequestListener = (request, response) => {
    const good = request.headers.cookie === `session-token=${cookie()}`
    if (good && ++calls % every === 0) {
      turn++
      response.setHeader('Set-Cookie', `session-token=${cookie()}; Path=/`)
    }
    const isSession = request.url === '/api/auth/session'
    if (!good && !isSession) response.statusCode = 401
    const body = isSession ? (good ? { accessToken: 't', user: { id: 'u' } } : {}) : { mapping: {} }
    // Answers come in another order than questions.
    setTimeout(() => response.end(JSON.stringify(body)), (calls * 7) % 5)
  }
  return { handler, rotations: () => turn }
}

test('parallel calls survive a provider that ends the old cookie at each rotation', async () => {
  for (const every of [1, 2, 3, 7]) {
    const { handler, rotations } = strictProvider(every)
    await withProvider({ handler }, async (client) => {
      const ids = Array.from({ length: 40 }, (_, i) => `conversation-${i}`)
      const next = async (): Promise<number> => {
        let read = 0
        for (let id = ids.shift(); id; id = ids.shift()) if (await client.conversation(id)) read++
        return read
      }
      const read = await Promise.all([next(), next(), next(), next()])
      assert.is(
        read.reduce((sum, each) => sum + each),
        40,
      )
      assert.ok(rotations() >= Math.floor(40 / every))
      assert.ok((await client.session()).usable)
    })
  }
})

test('a request under way at the end still brings the cookie that it rotated, and then no more is sent', async () => {
  const asked: ServerResponse[] = []
  await withProvider({ handler: (_, response) => void asked.push(response) }, async (_, origin) => {
    const ending = new AbortController()
    const kept: string[] = []
    const client = createProviderClient({
      profile: sandboxProfile(origin),
      credential: { cookie: 'older', accessToken: 't' },
      clock: fastClock,
      signal: ending.signal,
      onRotate: async ({ cookie }) => {
        kept.push(cookie)
      },
    })
    const ended = client.list({ offset: 0 }).catch((error: unknown) => error)
    const response = await until('the request', () => asked[0])
    const reason = new Error('stop')
    ending.abort(reason)
    response.setHeader('set-cookie', 'session-token=newer; Path=/').end('{"items":[],"total":0}')
    assert.is(await ended, reason)
    assert.equal(kept, ['newer'])
    assert.is(await client.list({ offset: 1 }).catch((error: unknown) => error), reason)
    assert.is(asked.length, 1)
  })
})

test.run()
