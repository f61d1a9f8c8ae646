import type { RequestListener } from 'node:http'
import { Agent } from 'undici'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isPublicAddress } from '../../core/public-address.ts'
import { createProviderClient } from '../../provider/client.ts'
import type { FileAnswer } from '../../provider/download.ts'
import { ProviderContractError, ProviderUnavailableError } from '../../provider/errors.ts'
import { sandboxProfile } from '../../provider/profile.ts'
import { startEndlessAnswer, WITHOUT_AN_END } from '../support/endless-answer.ts'
import { withProvider } from './own-provider.ts'
import { fastClock } from './sandbox.ts'

const json = (value: unknown): string => JSON.stringify(value)
const refused = (promise: Promise<unknown>) =>
  promise.then(
    () => assert.unreachable('was fetched'),
    (error: unknown) => {
      assert.instance(error, ProviderContractError)
      assert.match((error as Error).message, 'may not be fetched')
    },
  )

test('only public addresses are public', () => {
  for (const address of ['8.8.8.8', '1.1.1.1', '172.32.0.1', '2606:4700::1111', '2a00:1450::1']) {
    assert.ok(isPublicAddress(address), address)
  }
  const refusedAddresses = [
    ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.16.0.1', '192.168.1.1', '198.18.0.1'],
    ...[
      '203.0.113.1',
      '224.0.0.1',
      '255.255.255.255',
      '::',
      '::1',
      '::ffff:8.8.8.8',
      '::ffff:127.0.0.1',
      '64:ff9b::a00:1',
    ],
    ...[
      'fe80::1',
      'fc00::1',
      'fd12::1',
      'ff02::1',
      '2002:7f00:1::',
      '2001:db8::1',
      '2001::1',
      'example.com',
      '',
      '1.2.3',
    ],
  ]
  for (const address of refusedAddresses) assert.not(isPublicAddress(address), address)
})

test('a download address that leads elsewhere inside is never fetched', async () => {
  let address = ''
  const handler: RequestListener = (_, response) => response.end(json({ download_url: address }))
  await withProvider({ handler }, async (client) => {
    for (address of [
      'http://10.0.0.1/x',
      'https://10.0.0.1/x',
      'http://8.8.8.8/x',
      'https://169.254.169.254/latest',
      'https://[fd00::1]/x',
      'https://[::ffff:10.0.0.1]/x',
      'https://0x0a000001/x',
      'file:///etc/passwd',
      'ftp://example.com/x',
      'data:,x',
    ]) {
      await refused(client.file('f', { maxBytes: 100 }))
    }
  })
})

test('a provider that is not on this machine cannot send the service to this machine', async () => {
  let asked = 0
  let address = ''
  const handler: RequestListener = (_, response) => {
    asked++
    response.end(json({ download_url: address }))
  }
  await withProvider({ handler }, async (_, origin) => {
    const profile = { ...sandboxProfile('https://assistant.example'), allowedHosts: ['assistant.example', '127.0.0.1'] }
    // The profile says another host; the socket goes to the one that listens.
    const client = createProviderClient({
      profile,
      credential: { cookie: 'c', accessToken: 't' },
      clock: fastClock,
      dispatcher: new Agent().compose((dispatch) => (options, handler) => dispatch({ ...options, origin }, handler)),
    })
    for (address of [`${origin}/x`, origin.replace('http:', 'https:'), 'https://localhost/x', 'https://[::1]/x']) {
      await refused(client.file('f', { maxBytes: 100 }))
    }
    assert.is(asked, 4)
    // A name that leads to this machine is found out when it is looked up.
    address = 'https://localhost.localdomain/x'
    const error = await client.file('f', { maxBytes: 100 }).catch((each: unknown) => each)
    assert.instance(error, ProviderUnavailableError)
  })
})

for (const [name, answered] of Object.entries(WITHOUT_AN_END)) {
  test(`a download with ${name} without an end: read no further than any answer`, async () => {
    const endless = await startEndlessAnswer(answered)
    const handler: RequestListener = (_, response) => response.end(json({ download_url: endless.url }))
    await withProvider({ handler }, async (_, origin) => {
      const client = createProviderClient({
        profile: sandboxProfile(origin),
        credential: { cookie: 'c', accessToken: 't' },
        clock: fastClock,
        timeoutMs: 10_000,
      })
      const file = await client.file('f', { maxBytes: 100 }).catch((error: unknown) => error)
      // The parser has a bound of its own for some of it.
      assert.ok(file instanceof ProviderUnavailableError || (file as FileAnswer | null)?.tooLarge)
      assert.ok(endless.written() < 256 * 1_024 * 1_024, `${endless.written()} bytes`)
    })
    await endless.stop()
  })
}

test('redirects are followed, each checked, without credentials', async () => {
  const seen: unknown[] = []
  const handler: RequestListener = (request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://x')
    if (pathname.endsWith('/download'))
      return response.end(json({ download_url: `/files/${pathname.split('/').at(-2)}` }))
    seen.push([request.headers.cookie, request.headers.authorization])
    const to = { '/files/once': '/there', '/files/inside': 'http://10.0.0.1/', '/files/loop': '/files/loop' }[pathname]
    if (to) return response.writeHead(302, { location: to }).end()
    response.end('bytes')
  }
  await withProvider({ handler }, async (client) => {
    const file = await client.file('once', { maxBytes: 100 })
    assert.ok(file && !file.tooLarge)
    assert.is(file.bytes.toString(), 'bytes')
    await refused(client.file('inside', { maxBytes: 100 }))
    const error = await client.file('loop', { maxBytes: 100 }).catch((each: unknown) => each)
    assert.match((error as Error).message, 'redirects too often')
    assert.equal([...new Set(seen.map(json))], [json([undefined, undefined])])
  })
})

test('12 KB of Set-Cookie are read', async () => {
  const parts = [0, 1, 2].map(
    (part) => `session-token.${part}=${String(part).repeat(part < 2 ? 3800 : 1500)}; Path=/; HttpOnly`,
  )
  const handler: RequestListener = (request, response) => {
    const large = request.url?.includes('conversations')
    if (large) response.setHeader('Set-Cookie', [...parts, `other=${'x'.repeat(3000)}; Path=/`])
    response.end(json({ items: [], echo: request.headers.cookie?.length }))
  }
  await withProvider({ handler }, async (client) => {
    await client.list({ offset: 0 })
    assert.is(client.credential().cookie, '0'.repeat(3800) + '1'.repeat(3800) + '2'.repeat(1500))
    assert.ok(Number((await client.conversation('c'))?.['echo']) > 9100)
  })
})

test('answers that do not keep to the contract are named', async () => {
  const answers: [number, string][] = [
    [200, ''],
    [200, 'null'],
    [200, '[]'],
    [200, '{}'],
    [200, `{"items": ${'['.repeat(200)}${']'.repeat(200)}}`],
    [200, '{"items": [], "__proto__": {}}'],
    [204, ''],
    [302, ''],
    [400, '{}'],
    [404, '{}'],
  ]
  for (const [status, body] of answers) {
    const handler: RequestListener = (_, response) => response.writeHead(status).end(body)
    await withProvider({ handler }, async (client) => {
      const error = await client.list({ offset: 0 }).catch((each: unknown) => each)
      assert.instance(error, ProviderContractError, `${status} ${body}`)
    })
  }
  const handler: RequestListener = (_, response) =>
    response.end(json({ items: [null, 1, {}, { id: 'a' }], total: 'x' }))
  await withProvider({ handler }, async (client) => {
    const page = await client.list({ offset: 28 })
    assert.equal(page, {
      items: [{ id: 'a', title: null, createTime: null, updateTime: null }],
      total: null,
      nextOffset: null,
      isFull: false,
    })
  })
  const other: RequestListener = (request, response) =>
    response.end(json(request.url?.endsWith('none') ? { mapping: {} } : { id: 'another' }))
  await withProvider({ handler: other }, async (client) => {
    assert.equal(await client.conversation('none'), { mapping: {}, id: 'none' })
    assert.instance(await client.conversation('a').catch((each: unknown) => each), ProviderContractError)
  })
})

test('a list ends with a page that is not full, whatever total a full one gives', async () => {
  const items = [{ id: 'a' }, { id: 'b' }]
  const answers: [object, { nextOffset: number | null; isFull: boolean }][] = [
    [
      { items, total: 30, limit: 28 },
      { nextOffset: null, isFull: false },
    ],
    [
      { items, total: 31, limit: 28 },
      { nextOffset: 30, isFull: false },
    ],
    [
      { items, total: 30, limit: 2 },
      { nextOffset: 30, isFull: true },
    ],
    [
      { items: [], total: 40, limit: 28 },
      { nextOffset: null, isFull: false },
    ],
    [{ items: [] }, { nextOffset: null, isFull: false }],
    [{ items }, { nextOffset: null, isFull: false }],
  ]
  for (const [answer, wanted] of answers) {
    await withProvider({ handler: (_, response) => response.end(json(answer)) }, async (client) => {
      const { nextOffset, isFull } = await client.list({ offset: 28 })
      assert.equal({ nextOffset, isFull }, wanted, json(answer))
    })
  }
})

test.run()
