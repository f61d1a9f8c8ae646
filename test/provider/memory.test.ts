import type { ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { systemClock } from '../../core/clock.ts'
import { createProviderClient } from '../../provider/client.ts'
import { providerMemory } from '../../provider/memory.ts'
import { sandboxProfile } from '../../provider/profile.ts'
import { until } from '../support/until.ts'
import { withProvider } from './own-provider.ts'

const MIB = 1024 * 1024
/** What process.memoryUsage counts besides: buffers that are collected late, and those of the provider here. */
const MARGIN = 200 * MIB
const BUDGET = 128 * MIB
/** So long an answer is held until it is stored: others come meanwhile, where they may. */
const STORED_MS = 1_000

const large = Buffer.from(JSON.stringify({ id: 'a', title: 'x'.repeat(16 * MIB) }))
const answering =
  (body: Buffer, headers = {}) =>
  (_: unknown, response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body)

test('many large answers at once take no more than their budget, and all of them come', async () => {
  const gzipped = gzipSync(large)
  for (const [body, headers] of [
    [large, {}],
    [gzipped, { 'content-encoding': 'gzip' }],
  ] as const) {
    await withProvider({ handler: answering(body, headers) }, async (client) => {
      const before = process.memoryUsage().arrayBuffers
      let peak = 0
      let counted = 0
      const look = setInterval(() => {
        peak = Math.max(peak, process.memoryUsage().arrayBuffers - before)
        counted = Math.max(counted, providerMemory.taken())
      }, 5)
      const read = async (): Promise<number> => {
        const answer = await client.conversationAnswer('a')
        await sleep(STORED_MS)
        answer?.release()
        return answer?.body.length ?? 0
      }
      const lengths = await Promise.all(Array.from({ length: 24 }, read))
      clearInterval(look)
      assert.ok(lengths.every((length) => length === large.length))
      assert.ok(counted <= BUDGET + 2 * large.length, `counted ${counted / MIB} MiB`)
      assert.ok(peak < BUDGET + MARGIN, `held ${peak / MIB} MiB`)
      assert.is(providerMemory.taken(), 0)
    })
  }
})

test('waiting for memory is no slowness of the provider', async () => {
  const others = providerMemory.open()
  await others.reach(2 * BUDGET)
  await withProvider({ handler: answering(large) }, async (_, origin) => {
    const timeoutMs = 300
    const credential = { cookie: 'c', accessToken: 't' }
    const clock = systemClock()
    const client = createProviderClient({ profile: sandboxProfile(origin), credential, clock, timeoutMs })
    const began = clock.elapsed()
    const asked = client.conversationAnswer('a')
    await until('more than its time', () => clock.elapsed() - began > 3 * timeoutMs)
    others.close()
    const answer = await asked
    assert.is(answer?.body.length, large.length)
    answer?.release()
  })
})

test('an answer that fails, is refused or ends early leaves nothing taken', async () => {
  const handlers = [
    answering(Buffer.alloc(3 * MIB), { 'content-encoding': 'gzip' }),
    answering(Buffer.alloc(65 * MIB)),
    (_: unknown, response: ServerResponse) => {
      response.writeHead(200, { 'content-length': 3 * MIB })
      response.write(Buffer.alloc(2 * MIB), () => response.destroy())
    },
    (_: unknown, response: ServerResponse) => void response.writeHead(500).end(Buffer.alloc(3 * MIB)),
    (_: unknown, response: ServerResponse) => void response.writeHead(404).end(Buffer.alloc(3 * MIB)),
  ]
  for (const handler of handlers)
    await withProvider({ handler }, async (client) => {
      const conversation = await client.conversation('a').catch(() => null)
      assert.is(conversation, null)
      await client.list({ offset: 0 }).catch(() => undefined)
      const file = await client.file('a', { maxBytes: 1 }).catch(() => null)
      assert.is(file, null)
      assert.is(providerMemory.taken(), 0)
    })
})

test.run()
