import { randomUUID } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readLink } from '../../../http/access/links.ts'
import { type App, Apps } from '../../../schemas/app/app.ts'
import { webhookSecrets } from '../../../schemas/app/apps.ts'
import { Connections } from '../../../schemas/connection/connection.ts'
import { Deliveries } from '../../../schemas/delivery/delivery.ts'
import { Leases } from '../../../schemas/lease/lease.ts'
import { OperatorKeys } from '../../../schemas/operations/operator-key.ts'
import { signLink } from '../../../sdk/src/sign-link.ts'
import type { Endpoint } from '../../../wire/endpoint.ts'
import { opsEndpoints } from '../../../wire/ops-endpoints.ts'
import { type AskOptions, type HttpWorld, OPERATOR_KEY, startHttpWorld } from '../../support/http.ts'
import { seedConnection, seedConversations } from '../../support/seed.ts'

let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
})
test.after(async () => {
  await world.stop()
})

/** Asks as an operator: the status and the body. */
async function operate<T = { error: string }>(method: string, path: string, options: AskOptions = {}) {
  const { status, body } = await world.ask<T>(`/ops/${path}`, { key: OPERATOR_KEY, method, ...options })
  return { status, body }
}

const audited = async (action: string) => {
  const { body } = await operate<{ entries: { action: string; target: string; by: object; appId: string }[] }>(
    'GET',
    'audit',
  )
  return body.entries.filter((entry) => entry.action === action)
}

test('an app gets a further API key, and one is revoked', async () => {
  const made = await operate<{ id: string; apiKey: string }>('POST', 'apps/app-one/keys', { body: { name: 'Second' } })
  assert.is(made.status, 201)
  const { id, apiKey } = made.body
  const list = () => world.ask('/api/connections?userRef=nobody', { key: apiKey })
  assert.is((await list()).status, 404)
  const { body } = await operate<{ keys: { id: string; name: string; revokedAt: string | null }[] }>(
    'GET',
    'apps/app-one/keys',
  )
  assert.equal(
    body.keys.map(({ name, revokedAt }) => [name, revokedAt]),
    [
      ['First key', null],
      ['Second', null],
    ],
  )
  assert.not.match(JSON.stringify(body), apiKey)
  assert.is((await operate('DELETE', `apps/app-two/keys/${id}`)).status, 404)
  assert.is((await list()).status, 404)
  assert.equal(await operate('DELETE', `apps/app-one/keys/${id}`), { status: 200, body: { ok: true } })
  assert.is((await list()).status, 401)
  assert.is((await operate('DELETE', `apps/app-one/keys/${id}`)).status, 200)
  assert.is((await audited('key.revoked')).length, 1)
  assert.equal(
    (await audited('key.created')).map(({ target, appId }) => [target, appId]),
    [[id, 'app-one']],
  )
  assert.is((await operate('DELETE', `apps/app-one/keys/${randomUUID()}`)).body.error, 'Not found')
  assert.is((await operate('DELETE', `apps/none/keys/${id}`)).body.error, 'App not found')
  assert.is((await operate('POST', 'apps/none/keys', { body: { name: 'x' } })).body.error, 'App not found')
  for (const body of [{}, { name: '' }, { name: 5 }, { name: 'x', more: 1 }]) {
    assert.is((await operate('POST', 'apps/app-one/keys', { body })).status, 400, JSON.stringify(body))
  }
})

const rotate = <T>(secret: string, overlapSeconds?: number) =>
  operate<T>('POST', 'apps/app-one/rotate', { body: { secret, overlapSeconds } })

test('the app secret is rotated with an overlap, and without', async () => {
  const opens = async (appSecret: string) => {
    const { token } = signLink({ appId: 'app-one', appSecret, userRef: 'u', baseUrl: 'https://x.example' })
    return readLink({ token, purpose: 'connect', runtime: world.runtime }).then(
      () => true,
      () => false,
    )
  }
  const bearer = async (key: string) => (await world.ask('/api/connections?userRef=nobody', { key })).status
  const before = world.one.appSecret
  const { status, body: first } = await rotate<{ appSecret: string }>('app')
  assert.equal([status, Object.keys(first)], [200, ['appSecret']])
  assert.equal([await opens(before), await opens(first.appSecret)], [true, true])
  const [, old] = (await Apps.findById('app-one').lean<App>())?.linkSecrets ?? []
  assert.ok(Math.abs((old?.expiresAt?.getTime() ?? 0) - Date.now() - 86_400_000) < 60_000)
  const { body: second } = await rotate<{ appSecret: string }>('app', 0)
  assert.equal([await opens(before), await opens(first.appSecret), await opens(second.appSecret)], [false, false, true])
  assert.equal([await bearer(first.appSecret), await bearer(second.appSecret)], [401, 404])
})

test('the webhook secret is rotated; parallel rotations all count', async () => {
  const valid = async () => {
    const app = (await Apps.findById('app-one').lean<App>()) as App
    return webhookSecrets(app, { keyring: world.runtime.keyring, now: new Date() })
  }
  const many = await Promise.all([1, 2, 3].map(() => rotate<{ webhookSecret: string }>('webhook', 60)))
  const made = many.map(({ body }) => body.webhookSecret)
  assert.equal(new Set(await valid()), new Set([...made, world.one.webhookSecret]))
  const { body } = await rotate<{ webhookSecret: string }>('webhook', 0)
  assert.equal(await valid(), [body.webhookSecret])
  for (const wrong of [{}, { secret: 'api' }, { secret: 'app', overlapSeconds: -1 }]) {
    assert.is((await operate('POST', 'apps/app-one/rotate', { body: wrong })).status, 400)
  }
  assert.is((await operate('POST', 'apps/none/rotate', { body: { secret: 'app' } })).status, 404)
  assert.is((await audited('secret.rotated')).length, 6)
})

test('operator keys have a name and a role, and end when they are revoked', async () => {
  const make = (role: string) =>
    operate<{ id: string; key: string; error: string }>('POST', 'keys', { body: { name: 'Somebody', role } })
  const { status, body: support } = await make('support')
  assert.is(status, 201)
  const { body: operator } = await make('operator')
  assert.is((await make('owner')).status, 400)
  const stored = await OperatorKeys.findById(support.id).lean()
  assert.not.match(JSON.stringify(stored), support.key)
  assert.is((await operate('GET', 'overview', { key: `${support.key.slice(0, -1)}x` })).status, 401)
  assert.is((await operate('POST', 'keys', { key: operator.key, body: { name: 'x', role: 'support' } })).status, 201)
  assert.equal((await audited('operator-key.created'))[0]?.by, { kind: 'operator', id: operator.id })

  const path = (endpoint: Endpoint) => endpoint.path.slice('/ops/'.length).replace(/:\w+/g, randomUUID())
  for (const endpoint of Object.values<Endpoint>(opsEndpoints)) {
    const { authentication, method } = endpoint
    const least = authentication.by === 'operatorKey' && authentication.least
    const body = method === 'post' || method === 'patch' ? { body: {} } : {}
    const asked = await operate(method.toUpperCase(), path(endpoint), { key: support.key, ...body })
    if (least === 'support') assert.ok(asked.status < 403 || asked.status === 404, `${method} ${endpoint.path}`)
    else assert.equal(asked, { status: 403, body: { error: 'This operator key may not do that' } }, endpoint.path)
  }

  const revoke = (id: string) => operate('DELETE', `keys/${id}`, { key: OPERATOR_KEY })
  assert.is((await revoke(support.id)).status, 200)
  assert.is((await operate('GET', 'overview', { key: support.key })).status, 401)
  assert.equal([(await revoke(support.id)).status, (await revoke(randomUUID())).status], [200, 404])
  const { body: listed } = await operate<{ keys: { id: string; role: string }[] }>('GET', 'keys')
  assert.equal([listed.keys.length, listed.keys[0]?.id, listed.keys[0]?.role], [3, support.id, 'support'])
})

test('what support may do is looking, purge, replay and sync', () => {
  const names = Object.entries<Endpoint>(opsEndpoints)
    .filter(([, { method }]) => method !== 'get')
    .filter(([, { authentication }]) => authentication.by === 'operatorKey' && authentication.least === 'support')
    .map(([name]) => name)
  assert.equal(names.sort(), ['purge', 'retryDeliveries', 'retryDelivery', 'syncConnection'])
})

test('a purge may be looked at first, and then deletes nothing', async () => {
  const connection = await seedConnection({ appId: 'app-one', userRef: 'looked-at' })
  await seedConversations({ archiveId: connection.archiveId ?? '', count: 3 })
  await seedConnection({ appId: 'app-one', userRef: 'looked-at', status: 'revoked' })
  const look = (target: object, query = 'dryRun=true') =>
    operate('POST', `purge?${query}`, { body: { appId: 'app-one', ...target } })
  const answer = { status: 200, body: { dryRun: true, connectionsRevoked: 1, conversationsDeleted: 3 } }
  assert.equal(await look({ userRef: 'looked-at' }), answer)
  assert.equal(await look({ connectionId: connection._id }), answer)
  await Connections.updateOne({ _id: connection._id }, { $set: { status: 'revoked' } })
  const zeros = { status: 200, body: { dryRun: true, connectionsRevoked: 0, conversationsDeleted: 0 } }
  assert.equal(await look({ userRef: 'looked-at' }), zeros)
  assert.is((await look({ userRef: 'nobody' })).status, 404)
  assert.is((await look({ connectionId: randomUUID() })).status, 404)
  assert.is((await look({ userRef: 'looked-at' }, 'dryRun=yes')).status, 400)
  assert.is((await Connections.countDocuments({ appId: 'app-one' })) >= 2, true)
  assert.equal([await Deliveries.countDocuments(), await Leases.countDocuments()], [0, 0])
})

test.run()
