import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createConcurrencyLimit } from '../../../actors/delivery/concurrency-limit.ts'
import { systemClock } from '../../../core/clock.ts'
import { newId } from '../../../core/ids.ts'
import { Deliveries } from '../../../schemas/delivery/delivery.ts'
import { bringLanesForward } from '../../../schemas/delivery/delivery-lane.ts'
import { until } from '../../support/until.ts'
import { startEndpoint } from './receiver.ts'
import { happen, startDelivering, startWorld, testEvent, type World } from './world.ts'

const fairness = suite<{ world: World }>('fairness')
fairness.before(async (context) => {
  context.world = await startWorld()
})
fairness.after(({ world }) => world.stop())

const BACKLOG = 5_000

/** Deliveries that have been due for a while. */
async function backlog(appId: string): Promise<void> {
  const due = new Date(Date.now() - 3_600_000)
  const documents = Array.from({ length: BACKLOG }, () => {
    const deliveryId = newId()
    return {
      _id: deliveryId,
      appId,
      event: 'test.event',
      body: JSON.stringify({ event: 'test.event', payload: {}, deliveryId }),
      state: 'waiting',
      attempts: [],
      attemptsBefore: 0,
      createdAt: due,
      claimableAt: due,
      fence: 0,
    }
  })
  await Deliveries.collection.insertMany(documents as never[])
  await bringLanesForward(new Map([[appId, due]]))
}

fairness('an endpoint that hangs, with a long backlog, delays nobody else', async ({ world }) => {
  const hanging = await startEndpoint(() => undefined)
  const good = await startEndpoint((response) => response.end())
  await world.makeApp({ appId: 'hanging', webhookUrl: hanging.url })
  await world.makeApp({ appId: 'good', webhookUrl: good.url })
  await backlog('hanging')
  const delivering = startDelivering(world.runtime)
  await until('the hanging endpoint to be full', () => hanging.requests.length > 50)
  const ids = await happen(Array.from({ length: 200 }, () => testEvent('good')))
  for (const id of ids) {
    const delivery = await world.ended(id)
    assert.is(delivery.state, 'delivered')
    assert.is(delivery.attempts.length, 1)
  }
  assert.is(await Deliveries.countDocuments({ appId: 'hanging', state: 'waiting' }), BACKLOG)
  await hanging.stop()
  await delivering.stop()
  await good.stop()
})

fairness('a few hanging answers do not hold up the other deliveries of their endpoint', async ({ world }) => {
  const endpoint = await startEndpoint((response, { rawBody }) => {
    if (!rawBody.includes('hang')) response.end()
  })
  await world.makeApp({ appId: 'partly', webhookUrl: endpoint.url })
  const delivering = startDelivering(world.runtime)
  const stuck = await happen(Array.from({ length: 30 }, () => testEvent('partly', 'hang')))
  await until('the hanging requests', () => endpoint.requests.length === 30)
  const ids = await happen(Array.from({ length: 300 }, () => testEvent('partly', 'answer')))
  for (const id of ids) assert.is((await world.ended(id)).state, 'delivered')
  for (const id of stuck) assert.is((await world.delivery(id))?.state, 'waiting')
  await endpoint.stop()
  await delivering.stop()
})

fairness('apps that take turns are let through, however many hang', () => {
  const concurrency = createConcurrencyLimit({ clock: systemClock() })
  const fill = (appId: string) => {
    while (concurrency.free(appId) > 0) concurrency.enter(appId)
  }
  for (let index = 0; index < 500; index++) {
    assert.ok(concurrency.free(`dead ${index}`) > 0)
    fill(`dead ${index}`)
  }
  assert.ok(concurrency.free('alive') > 0)
  assert.is(concurrency.full().includes('dead 0'), true)
  assert.is(concurrency.full().includes('alive'), false)
})

fairness('an endpoint that answers is free while results are written, unless too many of them wait', () => {
  const concurrency = createConcurrencyLimit({ clock: systemClock() })
  const fill = (appId: string) => Array.from({ length: concurrency.free(appId) }, () => concurrency.enter(appId))
  const answered = fill('quick')
  assert.is(concurrency.free('quick'), 0)
  for (const room of answered) room.leave()
  assert.is(concurrency.free('quick'), answered.length)
  while (concurrency.free('quick') > 0) {
    const more = fill('quick')
    for (const room of more) room.leave()
    answered.push(...more)
  }
  assert.is(concurrency.free('another'), 0, 'the database is behind')
  for (const room of answered) room.end()
  assert.is(concurrency.free('quick'), 256)
})

fairness.run()
