import { randomUUID } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Commands } from '../../../schemas/command/command.ts'
import { Accounts } from '../../../schemas/connection/account.ts'
import { connectionProgress } from '../../../schemas/connection/progress.ts'
import { Deliveries } from '../../../schemas/delivery/delivery.ts'
import { Leases } from '../../../schemas/lease/lease.ts'
import { registerProcess } from '../../../schemas/operations/process-record.ts'
import {
  auditAnswer,
  commandsAnswer,
  deliveriesAnswer,
  leasesAnswer,
  opsConnectionsAnswer,
  overviewAnswer,
  releaseAnswer,
  retryAnswer,
  retryCommandAnswer,
  retryManyAnswer,
  syncAnswer,
} from '../../../wire/ops.ts'
import { type HttpWorld, OPERATOR_KEY, startHttpWorld } from '../../support/http.ts'
import { finishAs, seedConnection, seedConversations } from '../../support/seed.ts'
import { until } from '../../support/until.ts'
import { operatorOf, post } from './operator.ts'

let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
})
test.after(async () => {
  await world.stop()
})

const operate = operatorOf(() => world)

test('only operators come in', async () => {
  const error = async (key: string | null) => {
    const { status, body } = await world.ask<{ error: string }>('/ops/overview', { key })
    return `${status} ${body.error}`
  }
  assert.is(await error(null), '401 Missing Authorization header')
  assert.is(await error(world.one.apiKey), '401 Invalid operator key')
  assert.is(await error(`${OPERATOR_KEY}x`), '401 Invalid operator key')
  assert.is((await world.ask('/ops/nowhere', { key: OPERATOR_KEY })).status, 404)
  const { status, headers } = await world.ask('/ops/overview', { key: OPERATOR_KEY, method: 'DELETE' })
  assert.equal([status, headers.get('allow')], [405, 'GET, HEAD'])
})

test('the overview shows the processes and what there is', async () => {
  const { clock, log } = world.runtime
  const gauges = () => ({ connections: 3 })
  const record = registerProcess({ kind: 'actors', host: 'here', healthPort: 4001, clock, log, gauges })
  const overview = await until('the process shows', async () => {
    const seen = await operate(overviewAnswer, 'overview')
    return seen.processes.actors.length > 0 ? seen : null
  })
  assert.equal(overview.processes, { http: [], actors: [process.pid], 'browser-farm': [] })
  assert.equal(overview.processDetails[0]?.gauges, { connections: 3 })
  assert.equal([overview.processDetails[0]?.state, overview.processDetails[0]?.healthPort], ['starting', 4001])
  assert.equal([overview.environment, overview.timeScale, overview.database.ok], ['sandbox', 1, true])
  assert.is(overview.counts.apps, 2)
  await record.stop()
})

test('connections are found by what people know of them', async () => {
  const connection = await seedConnection({
    appId: 'app-one',
    userRef: 'support-case-1',
    device: { platform: 'iOS' },
    claimableAt: new Date(),
  })
  const { archiveId = '', accountId } = connection
  await seedConversations({ archiveId, count: 3 })
  const backfill = { done: false, total: 7 }
  await Accounts.create({ _id: accountId, appId: 'app-one', provider: 'p', archiveId, backfill, fence: 0 })
  const other = await seedConnection({ appId: 'app-two', userRef: 'other' })
  const find = async (q: string) =>
    (await operate(opsConnectionsAnswer, `connections?q=${encodeURIComponent(q)}`)).connections.map(({ id }) => id)
  for (const q of [
    connection._id,
    connection._id.toUpperCase(),
    'support-case',
    connection.userId,
    connection.accountId,
  ]) {
    assert.equal(await find(q), [connection._id], q)
  }
  assert.equal(await find('app-two'), [other._id])
  for (const q of [connection._id, 'support-case', connection.accountId, 'app-one', 'active']) {
    const path = `connections?q=${encodeURIComponent(q)}&appId=app-two`
    const found = (await operate(opsConnectionsAnswer, path)).connections.map(({ id }) => id)
    assert.equal(found, q === 'active' ? [other._id] : [], `${q} of another app`)
  }
  assert.equal(await find('nothing of the kind'), [])
  assert.equal((await find('active')).length, 2)
  assert.equal(await find(''), [other._id, connection._id])
  const { connections } = await operate(opsConnectionsAnswer, 'connections?q=support-case-1')
  const [found] = connections
  assert.equal([found?.conversationCount, found?.device], [3, { platform: 'iOS' }])
  const [progress] = (await connectionProgress([connection])).values()
  assert.equal(found?.progress, progress, 'operators see what the manage page shows')
  assert.equal(progress, { stored: 3, total: 7, done: false })
  assert.equal((await world.ask('/ops/connections?q=a%00', { key: OPERATOR_KEY })).status, 400)
})

test('an ingestion that was set aside says why, and is done again once', async () => {
  const seed = (more: object) => ({
    _id: randomUUID(),
    kind: 'ingest' as const,
    appId: 'app-one',
    target: 'connection',
    by: { kind: 'api-key' as const, id: 'x' },
    args: { connectionId: 'connection', fileId: 'file' },
    state: 'failed' as const,
    failure: { code: 'internal', values: { reason: 'set aside' } },
    crashes: 5,
    createdAt: new Date(),
    fence: 0,
    outbox: [],
    ...more,
  })
  const aside = await Commands.create(seed({}))
  const refused = await Commands.create(seed({ failure: { code: 'no_export', values: { reason: 'empty' } } }))
  const { commands } = await operate(commandsAnswer, 'commands')
  const failureOf = (id: string) => commands.find((command) => command.id === id)?.failure
  assert.equal(failureOf(aside._id), { code: 'internal', message: 'Internal server error', reason: 'set aside' })
  assert.is(failureOf(refused._id)?.reason, null)

  const again = await operate(retryCommandAnswer, `commands/${aside._id}/retry`, { method: 'POST' })
  assert.equal(await operate(retryCommandAnswer, `commands/${aside._id}/retry`, { method: 'POST' }), again)
  const retry = await Commands.findById(again.commandId).lean()
  assert.equal([retry?.kind, retry?.state, retry?.args], ['ingest', 'waiting', aside.args])
  assert.is(retry?.by.kind, 'operator')
  for (const id of [refused._id, again.commandId, randomUUID()])
    assert.is((await world.ask(`/ops/commands/${id}/retry`, { method: 'POST', key: OPERATOR_KEY })).status, 404)
  await Commands.deleteMany({ target: 'connection' })
})

async function seedDelivery(state: 'waiting' | 'dropped', appId = 'app-one', endedAt = new Date()): Promise<string> {
  const _id = randomUUID()
  const at = new Date()
  const attempts = [{ number: 1, at, status: 500, durationMs: 3, error: 'answered 500', answer: 'no' }]
  const ended = state === 'dropped' ? { endedAt } : { claimableAt: new Date(Date.now() + 60_000) }
  const body = '{"event":"test.event","payload":{"userRef":"u"}}'
  await Deliveries.create({ _id, appId, event: 'test.event', body, state, attempts, createdAt: at, fence: 0, ...ended })
  return _id
}

test('deliveries are listed and replayed', async () => {
  const waiting = await seedDelivery('waiting')
  const dropped = await seedDelivery('dropped', 'app-two')
  const long = await seedDelivery('dropped', 'app-one', new Date(Date.now() - 86_400_000))
  const { deliveries } = await operate(deliveriesAnswer, 'deliveries')
  assert.equal(deliveries.map(({ id }) => id).sort(), [waiting, dropped, long].sort())
  const first = deliveries.find(({ id }) => id === waiting)
  assert.equal(
    [first?.deliveryId, first?.event, first?.appId, first?.state],
    [waiting, 'test.event', 'app-one', 'waiting'],
  )
  assert.equal(
    first?.attempts.map(({ number, status }) => [number, status]),
    [[1, 500]],
  )
  const only = await operate(deliveriesAnswer, 'deliveries?state=dropped&appId=app-two')
  assert.equal(
    only.deliveries.map(({ id }) => id),
    [dropped],
  )
  assert.is((await world.ask('/ops/deliveries?state=odd', { key: OPERATOR_KEY })).status, 400)

  const retried = await operate(retryAnswer, `deliveries/${waiting}/retry`, post())
  assert.equal(retried, { ok: true, deliveryId: waiting, result: 'reopened' })
  assert.is((await world.ask(`/ops/deliveries/${randomUUID()}/retry`, { key: OPERATOR_KEY, ...post() })).status, 404)
  assert.is((await world.ask('/ops/deliveries/x/retry', { key: OPERATOR_KEY, ...post() })).status, 404)
  const since = new Date(Date.now() - 3_600_000).toISOString()
  const many = await operate(retryManyAnswer, `deliveries/retry?since=${since}`, post())
  assert.equal(many, { ok: true, reopened: 1 })
  assert.equal((await Deliveries.findById(dropped).lean())?.state, 'waiting')
  assert.equal((await Deliveries.findById(long).lean())?.state, 'dropped')
})

test('a lease is released', async () => {
  const _id = randomUUID()
  const viewport = { width: 800, height: 600, deviceScaleFactor: 1, mobile: false }
  const now = new Date()
  const lease = { appId: 'app-one', userId: randomUUID(), userRef: 'u', provider: 'p', viewport, fence: 0 }
  await Leases.create({ _id, ...lease, state: 'live', createdAt: now, expiresAt: now, claimableAt: now })
  assert.equal(
    (await operate(leasesAnswer, 'leases')).leases.map(({ id, state }) => [id, state]),
    [[_id, 'live']],
  )
  assert.is((await operate(releaseAnswer, `leases/${_id}/release`, post())).state, 'live')
  assert.ok((await Leases.findById(_id).lean())?.releaseRequestedAt)
  assert.is((await world.ask(`/ops/leases/${randomUUID()}/release`, { key: OPERATOR_KEY, ...post() })).status, 404)
})

test('sync now and purge go through commands', async () => {
  const connection = await seedConnection({ appId: 'app-one', userRef: 'commanded' })
  const waitFor = (kind: 'sync-now' | 'purge') =>
    until(kind, () => Commands.findOne({ target: connection._id, kind, state: 'waiting' }).lean())
  const syncing = operate(syncAnswer, `connections/${connection._id}/sync`, post())
  await finishAs<'sync-now'>((await waitFor('sync-now'))._id, { accepted: true })
  assert.equal(await syncing, { ok: true, accepted: true })

  const body = { appId: 'app-one', connectionId: connection._id }
  const purging = world.ask('/ops/purge', { key: OPERATOR_KEY, ...post(body) })
  const command = await waitFor('purge')
  assert.equal(command.by, { kind: 'operator', id: 'operator-key' })
  const result = { connectionsRevoked: 1, conversationsDeleted: 4, deletedAt: new Date().toISOString() }
  await finishAs<'purge'>(command._id, result)
  assert.equal((await purging).body, { ok: true, ...result })

  const { commands } = await operate(commandsAnswer, 'commands')
  assert.equal(
    commands.map(({ kind, state }) => `${kind} ${state}`),
    ['purge done', 'sync-now done'],
  )
  const { entries } = await operate(auditAnswer, 'audit')
  for (const action of ['purge', 'sync-now', 'lease.released', 'delivery.retried']) {
    assert.ok(
      entries.some((entry) => entry.action === action),
      action,
    )
  }
})

test.run()
