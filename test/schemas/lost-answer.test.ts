import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { newId } from '../../core/ids.ts'
import { connectDatabase } from '../../schemas/database.ts'
import { insertDeliveries } from '../../schemas/delivery/deliveries.ts'
import { Deliveries } from '../../schemas/delivery/delivery.ts'
import { testDatabase } from '../support/database.ts'
import { startDatabaseProxy } from '../support/proxy.ts'

const answers = suite('lost answers')
const database = await testDatabase()
const proxy = await startDatabaseProxy(database.url)
const connection = await connectDatabase({ url: proxy.url })
answers.after(async () => {
  await connection.close()
  await proxy.stop()
  await database.drop()
})

const delivery = () => ({ deliveryId: newId(), appId: 'app-one', event: 'test.event', payload: '{}' }) as const
const idsOf = (list: { _id: string }[]) => list.map(({ _id }) => _id).sort()

answers('an insert whose answer was lost is found by its claim, and its attempts are made', async () => {
  const [first, second, third] = [delivery(), delivery(), delivery()]
  const loss = proxy.loseAnswerTo('insert', 'deliveries')
  const ours = await insertDeliveries({ begun: [first, second], waiting: [third], now: new Date() })
  assert.ok(loss.lost())
  assert.equal(idsOf(ours), [first.deliveryId, second.deliveryId].sort())
  const stored = await Deliveries.find().lean()
  assert.is(stored.length, 3)
  for (const { claimedBy } of ours) assert.ok(stored.some((each) => each.claimedBy === claimedBy))
})

answers('an insert that is not answered is made again on another connection', async () => {
  const silent = delivery()
  const loss = proxy.silenceAfter('insert', 'deliveries')
  const ours = await insertDeliveries({ begun: [silent], waiting: [], now: new Date() })
  assert.ok(loss.lost())
  assert.equal(idsOf(ours), [silent.deliveryId])
})

answers('what another has claimed stays with it', async () => {
  const [known, fresh] = [delivery(), delivery()]
  await insertDeliveries({ begun: [known], waiting: [], now: new Date() })
  const loss = proxy.loseAnswerTo('insert', 'deliveries')
  const ours = await insertDeliveries({ begun: [known, fresh], waiting: [], now: new Date() })
  assert.ok(loss.lost())
  assert.equal(idsOf(ours), [fresh.deliveryId])
})

answers.run()
