import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { Clock } from '../../../core/clock.ts'
import { createRuntime } from '../../../core/process.ts'
import { type HttpWorld, listen, startHttpWorld } from '../../support/http.ts'

const BODY_MS = 15_000

let world: HttpWorld
let hurried: Awaited<ReturnType<typeof listen>>
/** The waits for bodies that have begun and were not cancelled: run, as if their time had come. */
const waits = new Set<() => void>()

test.before(async () => {
  world = await startHttpWorld()
  const { clock } = world.runtime
  const timer: Clock['timer'] = (ms, fn) => {
    if (ms !== BODY_MS) return clock.timer(ms, fn)
    waits.add(fn)
    return { cancel: () => waits.delete(fn) }
  }
  const runtime = createRuntime({ kind: 'http', env: world.env })
  hurried = await listen({ ...runtime, profiles: world.runtime.profiles, clock: { ...clock, timer } })
})
test.after(async () => {
  hurried.stop()
  await world.stop()
})

/** Sends all of a request but the end of its body. */
async function hold(path: string, headers: string[] = []): Promise<Socket> {
  const { hostname, port } = new URL(hurried.url)
  const socket = connect(Number(port), hostname)
  socket.on('error', () => undefined)
  socket.resume()
  const begun = once(hurried.server, 'request')
  socket.write([`POST ${path} HTTP/1.1`, 'Host: x', 'Content-Length: 50', ...headers, '', '{"a":'].join('\r\n'))
  await begun
  return socket
}

for (const path of [
  '/api/connect-native',
  '/api/purge',
  '/api/ingest-export',
  '/ops/apps',
  '/start',
  '/manage/delete',
  '/x',
]) {
  test(`POST ${path}: nobody who is not known holds a connection open with a body that does not come`, async () => {
    const socket = await hold(path)
    assert.is(waits.size, 1)
    const closed = once(socket, 'close')
    for (const end of waits) end()
    waits.clear()
    await closed
  })
}

test('a body that has come is waited for no more; an upload of an app that is known may take longer', async () => {
  const { status } = await world.ask('/api/connect-native', { method: 'POST', key: null, body: {}, url: hurried.url })
  assert.equal([status, waits.size], [400, 0])
  const socket = await hold('/api/ingest-export?userRef=x', [`Authorization: Bearer ${world.one.apiKey}`])
  while (waits.size > 0) await new Promise((resolve) => setImmediate(resolve))
  socket.destroy()
})

test.run()
