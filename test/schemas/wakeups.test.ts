import { MongoClient } from 'mongodb'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HOUR } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { firstDue } from '../../schemas/claims.ts'
import { Commands } from '../../schemas/command/command.ts'
import { writeCommand } from '../../schemas/command/commands.ts'
import { insertDeliveries } from '../../schemas/delivery/deliveries.ts'
import { firstDueLane } from '../../schemas/delivery/delivery-lane.ts'
import { outboxEntry, withEvents } from '../../schemas/outbox.ts'
import { onWork, type Work, wake } from '../../schemas/wakeups.ts'
import { connectedTestDatabase } from '../support/database.ts'
import { until } from '../support/until.ts'

const wakeups = suite('wakeups')
const database = await connectedTestDatabase()
const another = new MongoClient(database.url)
wakeups.after(async () => {
  await another.close()
  await database.stop()
})

const later = () => new Date(Date.now() + HOUR)
const write = (claimableAt: Date) =>
  writeCommand({
    kind: 'sync-now',
    appId: 'app-one',
    target: 'x',
    by: { kind: 'operator', id: 'test' },
    now: new Date(),
    claimableAt,
    args: { connectionId: 'x' },
  })

const counts = () => another.db().collection<Partial<Record<Work, number>>>('wakeups').findOne({})

/** The counts with everything in them that this process has told so far. */
async function settledCounts() {
  const before = await counts()
  // Counted with or after everything else.
  wake('connections')
  return until('the counts', async () => {
    const now = await counts()
    return now?.connections === before?.connections ? null : now
  })
}

/** What all processes are told of while `work` runs. */
async function toldDuring(work: () => Promise<unknown>): Promise<string[]> {
  const before = await settledCounts()
  await work()
  const after = await settledCounts()
  return (['commands', 'outboxes', 'deliveries'] as const).filter((kind) => after?.[kind] !== before?.[kind])
}

wakeups('what another process counts is heard here, and only by those who wait for it', async () => {
  const heard: string[] = []
  const listeners = (['commands', 'deliveries'] as const).map((kind) => onWork(kind, () => heard.push(kind)))
  const count = (kind: Work) =>
    another
      .db()
      .collection('wakeups')
      .updateOne({ _id: 'work' as never }, { $inc: { [kind]: 1 } }, { upsert: true })
  await count('commands')
  await until('the first', () => heard.length === 1)
  await count('deliveries')
  await until('the second', () => heard.length === 2)
  assert.equal(heard, ['commands', 'deliveries'])
  await Promise.all(listeners.map((listener) => listener.stop()))
})

wakeups('whoever writes what is due soon says so to all; whoever writes what is due later does not', async () => {
  assert.equal(await toldDuring(() => write(later())), [])
  assert.equal(await toldDuring(() => write(new Date())), ['commands'])
})

wakeups('who waits in the same process hears of it with the write', async () => {
  let heard = 0
  const listener = onWork('commands', () => {
    heard += 1
  })
  await write(new Date())
  assert.ok(heard > 0)
  await listener.stop()
})

wakeups('an update tells of what it makes due, and of events', async () => {
  const _id = await write(later())
  assert.equal(await toldDuring(() => Commands.updateOne({ _id }, { $set: { crashes: 1 } })), [])
  assert.equal(await toldDuring(() => Commands.updateOne({ _id }, { $set: { claimableAt: new Date() } })), ['commands'])
  const entry = outboxEntry({
    cause: _id,
    appId: 'app-one',
    event: 'test.event',
    payload: { userRef: 'x', message: 'x' },
    at: new Date(),
  })
  const update = withEvents({ $unset: { claimableAt: 1 } }, [entry], new Date())
  assert.equal(await toldDuring(() => Commands.findOneAndUpdate({ _id }, update)), ['outboxes'])
})

wakeups('deliveries that wait are told of', async () => {
  const delivery = { deliveryId: newId(), appId: 'app-two', event: 'test.event', payload: '{}' } as const
  const insert = () => insertDeliveries({ waiting: [delivery], begun: [], now: new Date() })
  assert.equal(await toldDuring(insert), ['deliveries'])
  assert.ok(await firstDueLane({ now: new Date() }))
})

wakeups('what is due soon is known beforehand', async () => {
  await Commands.deleteMany({})
  await write(later())
  assert.is(await firstDue(Commands, { now: new Date() }), undefined)
  const soon = new Date(Date.now() + 1_000)
  await write(soon)
  assert.equal(await firstDue(Commands, { now: new Date() }), soon)
})

wakeups.run()
