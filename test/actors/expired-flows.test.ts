import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HOUR, SECOND } from '../../core/clock.ts'
import { newId } from '../../core/ids.ts'
import { isDuplicate } from '../../schemas/database.ts'
import { Deliveries } from '../../schemas/delivery/delivery.ts'
import { Leases } from '../../schemas/lease/lease.ts'
import { Captures, createCapture, deleteCapturesOf } from '../../schemas/user/capture.ts'
import { ConsumedLinks, consumeLink, linkId, type UnwrittenFlow } from '../../schemas/user/consumed-link.ts'
import { ensureUser } from '../../schemas/user/user.ts'
import { type ActorWorld, startActorWorld } from '../support/actors.ts'
import { until } from '../support/until.ts'

const flows = suite('flows whose end nobody else tells of')

let world: ActorWorld
flows.before(async () => {
  world = await startActorWorld()
})
flows.after(() => world.stop())

/** A link that was spent by a process which has died, or stalls, since; its flow's document may be there. */
async function spend({
  userRef,
  kind = 'lease',
  generation = 0,
}: {
  userRef: string
  kind?: UnwrittenFlow['kind']
  generation?: number
}) {
  const { appId, runtime } = world
  const now = runtime.clock.now()
  const user = await ensureUser({ appId, userRef, now })
  const flow = { _id: newId(), appId, userId: user._id, userRef, generation, provider: 'sandbox' }
  const _id = linkId({ appId, jti: newId() })
  const { _id: flowId, generation: _, ...known } = flow
  const unwritten = { kind, ...known }
  await consumeLink({
    _id,
    purpose: 'connect',
    flowId,
    generation,
    consumedAt: now,
    endDueAt: now,
    unwritten,
    outbox: [],
  })
  return { _id, flow, now }
}

const isSettled = (_id: string) =>
  until('the link to be settled', async () => {
    const link = await ConsumedLinks.findById(_id).lean()
    return link && link.endDueAt === undefined && link.unwritten === undefined && link.expireAt !== undefined
  })
const leaseOf = ({ flow, now }: Awaited<ReturnType<typeof spend>>) => ({
  ...flow,
  viewport: { width: 800, height: 600, deviceScaleFactor: 1, mobile: false },
  state: 'starting' as const,
  tellsEnd: true,
  outbox: [],
  createdAt: now,
  expiresAt: new Date(now.getTime() + HOUR),
  fence: 0,
})
const endsOf = async (userRef: string) =>
  (await Deliveries.find({ event: 'connect.ended' }).lean())
    .map(({ body }) => JSON.parse(body).payload)
    .filter((payload) => payload.userRef === userRef)

const toldOf = (userRef: string) =>
  until(`the end of ${userRef}`, async () => {
    const ends = await endsOf(userRef)
    return ends.length > 0 ? ends : null
  })

flows('a link that was spent, and nothing came of it: the app hears that the flow has expired, once', async () => {
  for (const kind of ['lease', 'capture'] as const) {
    await isSettled((await spend({ userRef: kind, kind }))._id)
    assert.equal(await toldOf(kind), [{ userRef: kind, outcome: 'expired', reason: 'time_over' }])
  }
})

flows('from then on nothing comes of it, however late its process wakes up', async () => {
  const late = await spend({ userRef: 'late' })
  await isSettled(late._id)
  const refused = await Leases.create(leaseOf(late)).catch(isDuplicate)
  assert.is(refused, true)
  const { state, failure, claimableAt } = (await Leases.findById(late.flow._id).lean()) ?? {}
  assert.equal([state, failure, claimableAt], ['failed', 'time_over', undefined])
})

flows('a flow that was written down tells of its own end', async () => {
  const written = await spend({ userRef: 'written' })
  await Leases.create(leaseOf(written))
  await isSettled(written._id)
  assert.is((await Leases.findById(written.flow._id).lean())?.state, 'starting')
  assert.equal(await endsOf('written'), [])
})

flows('flows of deleted data end with it, written down or not', async () => {
  await spend({ userRef: 'unwritten', generation: -1 })
  const { flow } = await spend({ userRef: 'captured', kind: 'capture' })
  await createCapture({
    ...flow,
    clientSecret: 'secret',
    lifetimeMs: HOUR,
    tellsEnd: true,
    clock: world.runtime.clock,
  })
  const { userId } = flow
  await deleteCapturesOf({ userId, now: world.runtime.clock.now() })
  for (const userRef of ['unwritten', 'captured'])
    assert.equal(await toldOf(userRef), [{ userRef, outcome: 'failed', reason: 'deleted' }])
  await deleteCapturesOf({ userId, now: world.runtime.clock.now() })
  assert.is(await Captures.findById(flow._id).lean(), null, 'nothing is left of what was told')
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
