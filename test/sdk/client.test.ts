import { openAsBlob } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { CcsError, type ClientOptions, createClient } from '../../sdk/src/index.ts'
import { type FakeApi, type Reply, type SeenRequest, startApi } from './support/api.ts'

type Step = Reply | 'hang up'

/** An API that gives one reply after the other, the last one again and again, and a client that notes its waits. */
async function withApi(
  steps: Step[],
  act: (given: { client: ReturnType<typeof createClient>; api: FakeApi; waits: number[] }) => Promise<void>,
  options: Partial<ClientOptions> = {},
) {
  const api = await startApi((_request, count) => steps[Math.min(count, steps.length) - 1] ?? {})
  const waits: number[] = []
  const wait = async (milliseconds: number) => void waits.push(milliseconds)
  try {
    const client = createClient({ baseUrl: `${api.url}/`, apiKey: 'ccs_key', appId: 'demo', wait, ...options })
    await act({ client, api, waits })
  } finally {
    await api.stop()
  }
}

async function failure(promise: Promise<unknown>): Promise<CcsError> {
  try {
    await promise
  } catch (error) {
    assert.instance(error, CcsError)
    return error as CcsError
  }
  throw new Error('it succeeded')
}

const first = (api: FakeApi) => api.requests[0] as SeenRequest
const failing = { status: 500, body: { error: 'Internal server error' } }
const limited = { status: 429, headers: { 'retry-after': '17' }, body: { error: 'Rate limit exceeded' } }

test('lists connections, with fields it does not know', async () => {
  const body = { userRef: 'a b&c', connected: false, connections: [], invented: { later: true } }
  await withApi([{ body }], async ({ client, api }) => {
    assert.equal(await client.connections('a b&c'), body)
    const { method, path, query, headers } = first(api)
    assert.equal([method, path, query], ['GET', '/api/connections', { userRef: 'a b&c' }])
    assert.is(headers.authorization, 'Bearer ccs_key')
  })
})

test('lists conversations with the parameters that are given, and no others', async () => {
  await withApi([{}], async ({ client, api }) => {
    await client.conversations({ connectionId: 'c' })
    await client.conversations({ connectionId: 'c', limit: 10, offset: 20 })
    await client.conversations({ connectionId: 'c', cursor: 'x+/=', updatedAfter: new Date(0) })
    await client.conversations({ connectionId: 'c', updatedAfter: '2026-09-30T00:00:00Z' })
    assert.equal(
      api.requests.map(({ query }) => query),
      [
        { connectionId: 'c' },
        { connectionId: 'c', limit: '10', offset: '20' },
        { connectionId: 'c', cursor: 'x+/=', updatedAfter: '1970-01-01T00:00:00.000Z' },
        { connectionId: 'c', updatedAfter: '2026-09-30T00:00:00Z' },
      ],
    )
  })
})

test('purges a user or a connection', async () => {
  const result = { ok: true, connectionsRevoked: 1, conversationsDeleted: 2, deletedAt: '2026-09-30T00:00:00.000Z' }
  await withApi([{ body: result }], async ({ client, api }) => {
    assert.equal(await client.purge({ userRef: 'u' }), result)
    await client.purge({ connectionId: 'c' })
    const bodies = api.requests.map(({ body }) => JSON.parse(body.toString()))
    assert.equal(bodies, [
      { appId: 'demo', userRef: 'u' },
      { appId: 'demo', connectionId: 'c' },
    ])
    assert.is(first(api).headers['content-type'], 'application/json')
    const { url: baseUrl } = api
    const withoutApp = createClient({ baseUrl, apiKey: 'k' }).purge({ userRef: 'u' })
    assert.match(String(await withoutApp.catch((error: unknown) => error)), 'TypeError: purge')
    assert.is(api.requests.length, 2)
  })
})

test('an error carries status, message and request id', async () => {
  const headers = { 'x-request-id': 'r-1' }
  await withApi([{ status: 404, headers, body: { error: 'User not found' } }], async ({ client, api }) => {
    const error = await failure(client.connections('u'))
    assert.equal([error.status, error.message, error.requestId], [404, 'User not found', 'r-1'])
    assert.is(api.requests.length, 1)
  })
  await withApi([{ status: 409, body: '<html>' }], async ({ client }) => {
    assert.is((await failure(client.connections('u'))).message, 'The API answered 409')
  })
  await withApi([{ body: '<html>' }], async ({ client, api }) => {
    assert.is((await failure(client.connections('u'))).status, 200)
    assert.is(api.requests.length, 1)
  })
})

test('follows no redirect: the key stays with this address', async () => {
  await withApi([{ status: 307, headers: { location: '/elsewhere' } }], async ({ client, api }) => {
    assert.is((await failure(client.connections('u'))).status, 307)
    assert.is(api.requests.length, 1)
  })
})

test('waits out a 429 as long as it is asked to', async () => {
  await withApi([limited, limited, { body: { ok: true } }], async ({ client, waits }) => {
    assert.equal(await client.purge({ userRef: 'u' }), { ok: true })
    assert.equal(waits, [17_000, 17_000])
  })
  const tomorrow = { ...limited, headers: { 'retry-after': '86400' } }
  await withApi([tomorrow], async ({ client, waits }) => {
    const error = await failure(client.connections('u'))
    assert.equal([error.status, error.retryAfterSeconds, waits.length], [429, 86_400, 0])
  })
})

test('backs off on 500 and on a broken connection, a bounded number of times', async () => {
  await withApi([failing, 'hang up', failing, { body: { ok: true } }], async ({ client, waits }) => {
    assert.equal(await client.connections('u'), { ok: true })
    assert.equal(waits, [1000, 2000, 4000])
  })
  await withApi([failing], async ({ client, api, waits }) => {
    assert.is((await failure(client.connections('u'))).message, 'Internal server error')
    assert.equal([api.requests.length, waits], [5, [1000, 2000, 4000, 8000]])
  })
  const options = { maxAttempts: 9 }
  const longest = async ({ client, waits }: { client: ReturnType<typeof createClient>; waits: number[] }) => {
    await failure(client.connections('u'))
    assert.equal(waits.slice(-3), [32_000, 60_000, 60_000])
  }
  await withApi([failing], longest, options)
})

test('an API that cannot be reached is an error with status 0', async () => {
  await withApi(['hang up'], async ({ client, api }) => {
    const error = await failure(client.connections('u'))
    assert.equal([error.status, error.requestId, api.requests.length], [0, undefined, 5])
    assert.ok(error.cause)
    assert.not.match(`${error.stack}${error.message}`, 'ccs_key')
  })
})

test('an aborted call ends with the reason of its signal, also while it waits', async () => {
  const controller = new AbortController()
  const wait = (_milliseconds: number, signal?: AbortSignal) => {
    controller.abort(new Error('enough'))
    return Promise.reject(signal?.reason)
  }
  const { signal } = controller
  await withApi(
    [failing],
    async ({ client, api }) => {
      const error = await client.connections('u', { signal }).catch((reason: unknown) => reason)
      assert.is(error, signal.reason)
      assert.is(await client.connections('u', { signal }).catch((reason: unknown) => reason), signal.reason)
      assert.is(api.requests.length, 1)
    },
    { wait },
  )
})

/** What a signal keeps for others, listeners and signals that depend on it: in collections of its own. */
function keptBy(signal: AbortSignal): number {
  const own = Object.getOwnPropertySymbols(signal).map((name) => Reflect.get(signal, name) as { size?: number } | null)
  return own.reduce((sum, kept) => sum + (kept?.size ?? 0), 0)
}

test('calls leave nothing on a signal that outlives them', async () => {
  const { signal } = new AbortController()
  await withApi([{ body: {} }, failing, { body: {} }], async ({ client }) => {
    for (let call = 0; call < 5; call++) await client.connections('u', { signal })
    assert.is(keptBy(signal), 0)
  })
})

test('an attempt that takes too long is given up and repeated', async () => {
  const stuck: typeof globalThis.fetch = (_url, init) =>
    new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)))
  const calls: number[] = []
  const fetch: typeof globalThis.fetch = (...given) => {
    calls.push(1)
    return calls.length === 1 ? stuck(...given) : globalThis.fetch(...given)
  }
  const act = async ({ client }: { client: ReturnType<typeof createClient> }) => {
    assert.equal(await client.connections('u'), { fine: true })
    assert.ok(calls.length >= 2)
  }
  await withApi([{ body: { fine: true } }], act, { fetch, timeoutMs: 1000 })
})

test('refuses options that cannot work', () => {
  for (const change of [
    { baseUrl: 'nowhere' },
    { baseUrl: 'ftp://x' },
    { apiKey: '' },
    { maxAttempts: 0 },
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { timeoutMs: 2 ** 31 },
    { timeoutMs: Number.POSITIVE_INFINITY },
  ]) {
    const options = { baseUrl: 'http://127.0.0.1', apiKey: 'k', ...change }
    assert.throws(
      () => createClient(options),
      (error: Error) => error instanceof TypeError,
    )
  }
})

const counts = { inserted: 1, updated: 0, unchanged: 2, total: 3 }

test('uploads an export from memory, a file or a stream, byte for byte', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ccs-sdk-upload-'))
  const bytes = Buffer.from('PK not quite a zip \u0000\u00ff')
  await writeFile(join(folder, 'export.zip'), bytes)
  async function* chunks() {
    yield bytes.subarray(0, 4)
    yield bytes.subarray(4)
  }
  await withApi([{ body: counts }], async ({ client, api }) => {
    const file = await openAsBlob(join(folder, 'export.zip'))
    const stream = new Blob([bytes]).stream()
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
    shared.set(bytes)
    for (const one of [bytes, file, stream, chunks(), shared]) {
      assert.equal(await client.ingestExport({ connectionId: 'c', file: one }), counts)
    }
    await client.ingestExport({ userRef: 'u', file: '[]' })
    await client.ingestExport({ userRef: 'u', file: Buffer.from('[]') })
    await client.ingestExport({ userRef: 'u', file: chunks(), contentType: 'application/json' })
    const seen = api.requests.map(({ query, headers, body }) => [query, headers['content-type'], body.toString('hex')])
    const zip = [{ connectionId: 'c' }, 'application/zip', bytes.toString('hex')]
    const json = [{ userRef: 'u' }, 'application/json', Buffer.from('[]').toString('hex')]
    const last = [{ userRef: 'u' }, 'application/json', bytes.toString('hex')]
    assert.equal(seen, [zip, zip, zip, zip, zip, json, json, last])
    assert.equal([first(api).method, first(api).path], ['POST', '/api/ingest-export'])
  })
  await rm(folder, { recursive: true })
})

test('repeats an upload only where nothing can have been stored, and never a stream', async () => {
  await withApi([limited, { body: counts }], async ({ client, waits }) => {
    assert.equal(await client.ingestExport({ userRef: 'u', file: '[]' }), counts)
    assert.equal(waits, [17_000])
  })
  await withApi([failing], async ({ client, api }) => {
    assert.is((await failure(client.ingestExport({ userRef: 'u', file: '[]' }))).status, 500)
    assert.is(api.requests.length, 1)
  })
  await withApi([limited], async ({ client, api }) => {
    const file = new Blob(['[]']).stream()
    assert.is((await failure(client.ingestExport({ userRef: 'u', file }))).retryAfterSeconds, 17)
    assert.is(api.requests.length, 1)
  })
})

test('asks on while a long ingestion is running, and tells how it ended', async () => {
  const running = { status: 202, body: { ok: true, ingestId: 'i/1', state: 'running' } }
  await withApi([running, running, limited, { body: counts }], async ({ client, api, waits }) => {
    assert.equal(await client.ingestExport({ userRef: 'u', file: '[]' }), counts)
    const asked = api.requests.map(({ method, path }) => `${method} ${path}`)
    const ask = 'GET /api/ingest-export/i%2F1'
    assert.equal(asked, ['POST /api/ingest-export', ask, ask, ask])
    assert.equal(waits, [5000, 5000, 17_000])
  })
  await withApi([running, { status: 409, body: { error: 'Connection is revoked' } }], async ({ client }) => {
    const error = await failure(client.ingestExport({ userRef: 'u', file: '[]' }))
    assert.equal([error.status, error.message], [409, 'Connection is revoked'])
  })
})

test.run()
