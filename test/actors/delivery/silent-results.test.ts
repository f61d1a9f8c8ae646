import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { createResults } from '../../../actors/delivery/results.ts'
import { systemClock } from '../../../core/clock.ts'
import { newId } from '../../../core/ids.ts'
import { createLog } from '../../../core/log.ts'
import { createDailyCounter } from '../../../schemas/app/daily-count.ts'
import { connectDatabase, trusted } from '../../../schemas/database.ts'
import { insertDeliveries } from '../../../schemas/delivery/deliveries.ts'
import { Deliveries, type Delivery } from '../../../schemas/delivery/delivery.ts'
import { claimDeliveries } from '../../../schemas/delivery/delivery-claims.ts'
import { testDatabase } from '../../support/database.ts'
import { startDatabaseProxy } from '../../support/proxy.ts'
import { until } from '../../support/until.ts'

const results = suite('results of deliveries on a connection that falls silent')
const database = await testDatabase()
const proxy = await startDatabaseProxy(database.url)
const connection = await connectDatabase({ url: proxy.url })
const clock = systemClock()
const log = createLog({ name: 'test', level: 'silent' })
const daily = createDailyCounter({ clock, log })
const { record } = createResults({ clock, log, daily })
results.after(async () => {
  await daily.stop()
  await connection.close()
  await proxy.stop()
  await database.drop()
})

async function begun(appId: string): Promise<Delivery> {
  const delivery = { deliveryId: newId(), appId, event: 'test.event', payload: '{}' } as const
  const [ours] = await insertDeliveries({ begun: [delivery], waiting: [], now: new Date() })
  assert.ok(ours)
  return ours
}
const succeeded = ({ _id, appId, claimedBy = '' }: Delivery) =>
  record({ _id, appId, claimedBy, number: 1, result: { durationMs: 1, status: 200 }, outcome: { ended: 'delivered' } })

results('are written down before their claims run out, and those behind them too', async () => {
  const [one, other] = [await begun('app-one'), await begun('app-two')]
  const silence = proxy.silenceAfter('update', 'deliveries')
  let recorded = 0
  const count = (): void => {
    recorded += 1
  }
  succeeded(one).then(count, () => undefined)
  await until('the silence', () => silence.lost())
  succeeded(other).then(count, () => undefined)
  const due = async (): Promise<boolean> => {
    const held = { _id: trusted({ $in: [one._id, other._id] }), claimedBy: trusted({ $exists: true }) }
    return (await Deliveries.exists({ ...held, claimableAt: trusted({ $lte: new Date() }) })) !== null
  }
  await until('both results, or a claim that ran out', async () => recorded === 2 || (await due()))
  assert.is(recorded, 2)
  assert.is(await Deliveries.countDocuments({ state: 'delivered', claimedBy: trusted({ $exists: false }) }), 2)
})

results('a lane that is not brought forward is, on another connection', async () => {
  const silence = proxy.silenceAfter('update', 'delivery_lanes')
  let inserted = false
  begun('app-three').then(
    () => {
      inserted = true
    },
    () => undefined,
  )
  await until('the delivery', () => inserted, { giveUpMs: 15_000 })
  assert.ok(silence.lost())
})

results('a claim whose answer is lost has begun its attempts all the same', async () => {
  for (const lose of [proxy.loseAnswerTo, proxy.silenceAfter]) {
    const delivery = { deliveryId: newId(), appId: newId(), event: 'test.event', payload: '{}' } as const
    await insertDeliveries({ begun: [], waiting: [delivery], now: new Date() })
    const loss = lose('update', 'deliveries', 'attempts')
    let claimed: Delivery[] | undefined
    claimDeliveries({ appId: delivery.appId, limit: 10, now: new Date() }).then(
      ({ begun }) => {
        claimed = begun
      },
      () => undefined,
    )
    const [ours, ...others] = await until('the claim', () => claimed, { giveUpMs: 15_000 })
    assert.ok(loss.lost())
    assert.equal([ours?._id, ours?.attempts.length, others.length], [delivery.deliveryId, 1, 0])
  }
})

results.run()
