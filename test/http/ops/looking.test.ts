import { randomUUID } from 'node:crypto'
import { Registry } from 'prom-client'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Connections } from '../../../schemas/connection/connection.ts'
import { Deliveries } from '../../../schemas/delivery/delivery.ts'
import { bringLanesForward } from '../../../schemas/delivery/delivery-lane.ts'
import { ActorSnapshots, type LiveActor } from '../../../schemas/operations/actor-snapshot.ts'
import { OperatorKeys } from '../../../schemas/operations/operator-key.ts'
import { registerProcess } from '../../../schemas/operations/process-record.ts'
import { actorsAnswer, deliveriesAnswer, opsConnectionAnswer, overviewAnswer } from '../../../wire/ops.ts'
import { type HttpWorld, listen, OPERATOR_KEY, startHttpWorld } from '../../support/http.ts'
import { seedConnection } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
})
test.after(async () => {
  await world.stop()
})

const look = async (path: string): Promise<unknown> => {
  const answer = await world.ask(`/ops/${path}`, { key: OPERATOR_KEY })
  assert.is(answer.status, 200, answer.text)
  return answer.body
}

const actor = (age: number): LiveActor => ({
  path: `/connections/shard-0/${age}`,
  kind: 'connection',
  state: 'working',
  mailbox: 2,
  since: new Date(Date.UTC(2026, 0, 1) - age * 1_000),
  doing: 'sync',
  crashes: 1,
})

test('the tree of a process is written while somebody looks: the oldest 500 and the total', async () => {
  const { clock, log } = world.runtime
  const gauges = () => ({ connections: 600 })
  const actors = () => Array.from({ length: 600 }, (_, age) => actor(age))
  const record = registerProcess({ kind: 'actors', host: 'here', healthPort: 4001, clock, log, gauges, actors })
  try {
    record.enter('running')
    await until('the process shows', async () => {
      const { processes } = overviewAnswer.parse(await look('overview'))
      return processes.actors.length > 0
    })
    assert.is(await ActorSnapshots.countDocuments(), 0, 'nobody looked')
    const { processes } = actorsAnswer.parse(await look('actors'))
    const [process] = processes
    assert.equal([process?.id, process?.kind, process?.total], [record.id, 'actors', 600])
    assert.is(process?.actors.length, 500)
    const [first] = process?.actors ?? []
    assert.equal(first, { ...actor(599), since: actor(599).since.toISOString() })
    assert.ok((process?.memoryBytes ?? 0) > 1_000_000)
  } finally {
    await record.stop()
  }
  assert.equal(actorsAnswer.parse(await look('actors')).processes, [])
})

test('what was set aside stays in sight', async () => {
  const broken = await seedConnection({ appId: 'app-one', userRef: 'broken', crashes: 5, quarantinedAt: new Date() })
  const { quarantined } = actorsAnswer.parse(await look('actors'))
  assert.equal(
    quarantined.map(({ id, crashes }) => [id, crashes]),
    [[broken._id, 5]],
  )
})

async function seedDelivery({
  error,
  about = 'nobody',
  createdAt,
}: {
  error?: string
  about?: string
  createdAt: Date
}): Promise<string> {
  const _id = randomUUID()
  const attempts = error === undefined ? [] : [{ number: 1, at: createdAt, durationMs: 3, error }]
  const body = JSON.stringify({ event: 'test.event', payload: { userRef: 'u', connectionId: about } })
  const claimableAt = new Date(Date.now() + 60_000)
  const what = { appId: 'app-one', event: 'test.event', body, state: 'waiting' } as const
  await Deliveries.create({ _id, ...what, attempts, claimableAt, createdAt, fence: 0 })
  await bringLanesForward(new Map([['app-one', claimableAt]]))
  return _id
}

test('a connection is shown with its last syncs and its deliveries', async () => {
  const history = [
    { at: new Date(1_000), outcome: 'complete +3' },
    { at: new Date(2_000), outcome: 'unavailable: 503' },
  ]
  const capturedAt = new Date(Date.now() - 60_000)
  const connection = await seedConnection({
    appId: 'app-one',
    userRef: 'looked-at',
    capturedAt,
    sync: { unchanged: 0, history },
  })
  const mine = await seedDelivery({ about: connection._id, createdAt: new Date() })
  await seedDelivery({ createdAt: new Date() })
  const shown = opsConnectionAnswer.parse(await look(`connections/${connection._id.toUpperCase()}`))
  assert.equal([shown.connection.id, shown.connection.userRef], [connection._id, 'looked-at'])
  assert.equal(
    shown.syncs.map(({ outcome }) => outcome),
    ['unavailable: 503', 'complete +3'],
  )
  assert.equal(
    shown.deliveries.map(({ id }) => id),
    [mine],
  )
  assert.is((await world.ask(`/ops/connections/${randomUUID()}`, { key: OPERATOR_KEY })).status, 404)
})

test('counts tell what is due, late, failing and how old it is', async () => {
  // Its counts are its own, and nobody has looked at them before.
  const { url, stop } = await listen({ ...world.runtime, metrics: new Registry() })
  try {
    const createdAt = new Date(Date.now() - 3_600_000)
    await Deliveries.deleteMany({})
    await Connections.deleteMany({})
    await seedDelivery({ createdAt })
    await seedDelivery({ error: 'answered 500', createdAt: new Date() })
    const claimableAt = new Date(Date.now() - 120_000)
    await seedConnection({ appId: 'app-one', userRef: 'late', claimableAt })
    await seedConnection({ appId: 'app-one', userRef: 'due', claimableAt: new Date(Date.now() - 1_000) })
    await seedConnection({ appId: 'app-one', userRef: 'asleep', claimableAt: new Date(Date.now() + 60_000) })
    const answer = await world.ask('/ops/overview', { key: OPERATOR_KEY, url })
    const { counts } = overviewAnswer.parse(answer.body)
    assert.equal(counts.syncs, { due: 2, late: 1, oldestDueAt: claimableAt.toISOString() })
    assert.equal(counts.deliveries, { waiting: 2, failing: 1, dropped: 0, oldestAt: createdAt.toISOString() })
    const listed = await world.ask('/ops/deliveries?state=waiting', { key: OPERATOR_KEY })
    assert.is(deliveriesAnswer.parse(listed.body).deliveries.length, 2)
  } finally {
    stop()
  }
})

test('an operator key is looked up by an index', async () => {
  const indexes = await OperatorKeys.collection.indexes()
  assert.ok(indexes.some(({ key }) => 'digest' in key))
})

test.run()
