import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { AnswerTooLargeError, ProviderUnavailableError } from '../../provider/errors.ts'
import { withProvider } from './own-provider.ts'

const MIB = 1024 * 1024
const answering = (body: Buffer) => ({
  handler: (_: unknown, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(body)
  },
})
const thrown = (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error: unknown) => error,
  )

test('a compressed conversation is read, small and large, and its bytes are given as they came', async () => {
  for (const length of [10, 3 * MIB]) {
    const text = JSON.stringify({ id: 'a', title: 'ä'.repeat(length) })
    const body = gzipSync(text)
    await withProvider(answering(body), async (client) => {
      const answer = await client.conversationAnswer('a')
      assert.equal(answer?.raw, JSON.parse(text))
      assert.is(answer?.body.toString(), text)
      assert.ok(answer?.gzipped?.equals(body))
    })
  }
})

test('an answer that inflates beyond its limit is refused, whatever its size on the way', async () => {
  const bomb = gzipSync(Buffer.alloc(2 * MIB))
  assert.ok(bomb.length < 16 * 1024)
  await withProvider(answering(bomb), async (client) => {
    assert.instance(await thrown(client.session()), AnswerTooLargeError)
  })
  const large = gzipSync(Buffer.alloc(65 * MIB))
  assert.ok(large.length > 16 * 1024)
  await withProvider(answering(large), async (client) => {
    assert.instance(await thrown(client.conversation('a')), AnswerTooLargeError)
  })
})

test('what calls itself gzip and is none counts as no answer', async () => {
  await withProvider(answering(Buffer.from('{"id":"a"}')), async (client) => {
    assert.instance(await thrown(client.conversation('a')), ProviderUnavailableError)
  })
})

test.run()
