import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { rangeOf } from '../../../actors/id-range.ts'
import { createOutboxRelay } from '../../../actors/outbox-relay.ts'
import { newId } from '../../../core/ids.ts'
import { type App, Apps } from '../../../schemas/app/app.ts'
import { Commands } from '../../../schemas/command/command.ts'
import { trusted } from '../../../schemas/database.ts'
import { insertDeliveries, type NewDelivery } from '../../../schemas/delivery/deliveries.ts'
import { Deliveries } from '../../../schemas/delivery/delivery.ts'
import { deliveryIdOf, outboxEntry, withEvents } from '../../../schemas/outbox.ts'
import { ConsumedLinks } from '../../../schemas/user/consumed-link.ts'
import { until } from '../../support/until.ts'
import { startEndpoint } from './receiver.ts'
import { happen, startDelivering, startWorld, testEvent, type World } from './world.ts'

const relaying = suite<{ world: World }>('outbox relay')
relaying.before(async (context) => {
  context.world = await startWorld()
})
relaying.after(({ world }) => world.stop())

const write = async (list: NewDelivery[]): Promise<void> => {
  await insertDeliveries({ waiting: list, begun: [], now: new Date() })
}
const outboxesAreEmpty = async () => (await ConsumedLinks.exists({ outboxAt: trusted({ $exists: true }) })) === null

relaying('a crash between the deliveries and the outbox makes no second delivery', async ({ world }) => {
  const endpoint = await startEndpoint((response) => response.end())
  await world.makeApp({ appId: 'rerun', webhookUrl: endpoint.url })
  const ids = await happen([testEvent('rerun', 'one'), testEvent('rerun', 'two'), testEvent('rerun', 'three')])
  let crashed = false
  const crashing = createOutboxRelay({
    runtime: world.runtime,
    accept: async (list) => {
      await write(list)
      crashed = true
      throw new Error('killed before the outbox was emptied')
    },
  })
  await until('the crash', () => crashed)
  await crashing.stop()
  assert.not(await outboxesAreEmpty())
  const delivering = startDelivering(world.runtime)
  for (const id of ids) assert.is((await world.ended(id)).state, 'delivered')
  await until('empty outboxes', outboxesAreEmpty)
  assert.is(await Deliveries.countDocuments({ appId: 'rerun' }), 3)
  assert.equal(endpoint.requests.map(({ deliveryId }) => deliveryId).sort(), [...ids].sort())
  await delivering.stop()
  await endpoint.stop()
})

relaying('relays side by side send each event once', async ({ world }) => {
  const endpoint = await startEndpoint((response) => response.end())
  await world.makeApp({ appId: 'parallel', webhookUrl: endpoint.url })
  const several = [1, 2, 3].map(() => startDelivering(world.runtime))
  const ids = await happen(Array.from({ length: 400 }, (_, index) => testEvent('parallel', `event ${index}`)))
  await until(
    'all delivered',
    async () => (await Deliveries.countDocuments({ state: 'delivered', appId: 'parallel' })) === 400,
  )
  assert.equal(endpoint.requests.map(({ deliveryId }) => deliveryId).sort(), [...ids].sort())
  await Promise.all(several.map((one) => one.stop()))
  await endpoint.stop()
})

relaying(
  'relays that share the documents do nothing twice, and what one leaves lying the other takes',
  async ({ world }) => {
    await world.makeApp({ appId: 'shared', webhookUrl: 'http://127.0.0.1:1/' })
    const taken: string[][] = [[], []]
    // Stands still: what is nobody's yet does not become anybody's because the machine is slow.
    let now = new Date()
    const clock = { ...world.runtime.clock, now: () => now }
    const start = (index: number) =>
      createOutboxRelay({
        runtime: { ...world.runtime, clock },
        share: () => rangeOf({ index, count: 2 }),
        accept: async (list) => {
          taken[index]?.push(...list.map(({ deliveryId }) => deliveryId))
          await write(list)
        },
      })
    const [one, other] = [start(0), start(1)]
    const ids = await happen(Array.from({ length: 600 }, (_, index) => testEvent('shared', `event ${index}`)))
    now = new Date()
    await until('empty outboxes', outboxesAreEmpty)
    assert.equal(taken.flat().sort(), [...ids].sort())
    for (const list of taken) assert.ok(list.length > 200, `${list.length} of 600`)
    await other.stop()
    const more = await happen(Array.from({ length: 20 }, (_, index) => testEvent('shared', `later event ${index}`)))
    now = new Date(Date.now() + 10_000)
    await until('empty outboxes', outboxesAreEmpty)
    assert.equal(taken[0]?.filter((id) => more.includes(id)).sort(), [...more].sort())
    await one.stop()
  },
)

relaying('the shares of all processes hold every id once', () => {
  assert.is(rangeOf({ index: 0, count: 1 }), undefined)
  assert.is(rangeOf({ index: -1, count: 3 }), undefined)
  for (const count of [2, 3, 7]) {
    const ranges = Array.from({ length: count }, (_, index) => rangeOf({ index, count }) ?? {})
    for (const id of ['', 'A link of a partner', '~', ...Array.from({ length: 200 }, newId)]) {
      const holds = ranges.filter(({ $gte = '', $lt }) => id >= $gte && ($lt === undefined || id < $lt))
      assert.is(holds.length, 1, `${id} of ${count}`)
    }
  }
})

relaying('an entry that is added while its document is relayed is not lost', async ({ world }) => {
  await world.makeApp({ appId: 'added', webhookUrl: 'http://127.0.0.1:1/' })
  const entry = (cause: string) =>
    outboxEntry({ ...testEvent('added', cause), cause: `${cause} of ${newId()}`, at: new Date() })
  for (const present of [['first'], ['first', 'second']]) {
    const commandId = newId()
    const entries = present.map(entry)
    const late = entry('late')
    await Commands.create({
      _id: commandId,
      kind: 'sync-now',
      appId: 'added',
      target: 'x',
      by: { kind: 'service', id: 'x' },
      args: { connectionId: 'x' },
      state: 'done',
      createdAt: new Date(),
      fence: 0,
      crashes: 0,
      outbox: entries,
      outboxAt: new Date(),
    })
    let added = false
    const relay = createOutboxRelay({
      runtime: world.runtime,
      accept: async (list) => {
        if (!added) await Commands.updateOne({ _id: commandId }, withEvents({}, [late], new Date()))
        added = true
        await write(list)
      },
    })
    await until('an empty outbox', async () => (await Commands.findById(commandId).lean())?.outbox.length === 0)
    await until('no due time', async () => (await Commands.findById(commandId).lean())?.outboxAt === undefined)
    await relay.stop()
    const ids = [...entries, late].map(({ id }) => deliveryIdOf(id))
    assert.is(await Deliveries.countDocuments({ _id: trusted({ $in: ids }) }), ids.length)
  }
})

relaying('events of an app without a webhook URL are discarded and counted', async ({ world }) => {
  await world.makeApp({ appId: 'silent' })
  const delivering = startDelivering(world.runtime)
  await happen([testEvent('silent'), testEvent('silent'), testEvent('no such app')])
  const app = await until('the count', async () => {
    const found = await Apps.findById('silent').lean<App>()
    return found?.discarded?.events === 2 ? found : null
  })
  assert.ok(app.discarded?.at instanceof Date)
  await until('empty outboxes', outboxesAreEmpty)
  assert.is(await Deliveries.countDocuments({ appId: 'silent' }), 0)
  await delivering.stop()
})

relaying('a delivery whose app has lost its webhook URL is dropped', async ({ world }) => {
  const endpoint = await startEndpoint((response) => response.writeHead(500).end())
  await world.makeApp({ appId: 'leaving', webhookUrl: endpoint.url })
  const delivering = startDelivering(world.runtime)
  const [id = ''] = await happen([testEvent('leaving')])
  await until('the first attempt', () => endpoint.requests.length > 0)
  await Apps.updateOne({ _id: 'leaving' }, { $unset: { webhookUrl: 1 } })
  const delivery = await world.ended(id)
  assert.is(delivery.state, 'dropped')
  assert.is(delivery.attempts.at(-1)?.error, 'The app has no webhook URL')
  assert.ok(delivery.attempts.length < 6)
  await delivering.stop()
  await endpoint.stop()
})

relaying.run()
