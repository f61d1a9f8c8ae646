import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { DAY, HOUR, SECOND } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { Deliveries } from '../../schemas/delivery/delivery.ts'
import { Leases } from '../../schemas/lease/lease.ts'
import { createCapture } from '../../schemas/user/capture.ts'
import { ConsumedLinks, consumeLink, linkId } from '../../schemas/user/consumed-link.ts'
import { ensureUser } from '../../schemas/user/user.ts'
import { type ActorWorld, startActorWorld } from '../support/actors.ts'
import { until } from '../support/until.ts'

const flows = suite('flows whose end nobody else tells of')

let world: ActorWorld
flows.before(async () => {
  world = await startActorWorld()
})
flows.after(() => world.stop())

/** A link that was spent by a process which has died since; its flow's document may be there. */
async function spend({ userRef, generation = 0 }: { userRef: string; generation?: number }) {
  const { appId, runtime } = world
  const now = runtime.clock.now()
  const user = await ensureUser({ appId, userRef, now })
  const flowId = newId()
  const _id = linkId({ appId, jti: newId() })
  await consumeLink({
    _id,
    purpose: 'connect',
    flowId,
    generation,
    consumedAt: now,
    endDueAt: now,
    userId: user._id,
    expireAt: new Date(now.getTime() + DAY),
    outbox: [],
  })
  return { _id, flowId, user, now }
}

const isSettled = (_id: string) =>
  until('the link to be settled', async () => {
    const link = await ConsumedLinks.findById(_id).lean()
    return link && link.endDueAt === undefined && link.userId === undefined
  })
const endsOf = async (userRef: string) =>
  (await Deliveries.find({ event: 'connect.ended' }).lean())
    .map(({ body }) => JSON.parse(body).payload)
    .filter((payload) => payload.userRef === userRef)

flows('a link that was spent, and nothing came of it: the app hears that the flow has expired, once', async () => {
  const { _id } = await spend({ userRef: 'unwritten' })
  await isSettled(_id)
  const told = await until('the event', async () => {
    const ends = await endsOf('unwritten')
    return ends.length > 0 ? ends : null
  })
  assert.equal(told, [{ userRef: 'unwritten', outcome: 'expired', reason: 'time_over' }])
})

flows('a flow that was written down tells of its own end, and one of deleted data of none', async () => {
  const written = await spend({ userRef: 'written' })
  await Leases.create({
    _id: written.flowId,
    appId: world.appId,
    userId: written.user._id,
    userRef: 'written',
    generation: 0,
    provider: 'sandbox',
    viewport: { width: 800, height: 600, deviceScaleFactor: 1, mobile: false },
    state: 'connected',
    tellsEnd: true,
    outbox: [],
    createdAt: written.now,
    expiresAt: new Date(written.now.getTime() + HOUR),
    fence: 0,
  })
  const outdated = await spend({ userRef: 'deleted', generation: 7 })
  await isSettled(written._id)
  await isSettled(outdated._id)
  const { outboxAt } = (await ConsumedLinks.findById(outdated._id).lean()) ?? {}
  assert.is(outboxAt, undefined)
  assert.equal(await endsOf('deleted'), [])
})

flows('a native attempt that nobody brought to an end has expired', async () => {
  const { appId, runtime } = world
  const user = await ensureUser({ appId, userRef: 'native', now: runtime.clock.now() })
  await createCapture({
    _id: newId(),
    appId,
    userId: user._id,
    userRef: 'native',
    generation: 0,
    provider: 'sandbox',
    clientSecret: 'secret',
    lifetimeMs: SECOND,
    tellsEnd: true,
    clock: runtime.clock,
  })
  const told = await until('the event', async () => {
    const ends = await endsOf('native')
    return ends.length > 0 ? ends : null
  })
  assert.equal(told, [{ userRef: 'native', outcome: 'expired', reason: 'time_over' }])
})

flows.run()
