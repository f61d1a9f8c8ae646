import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { seal } from '../../../core/envelope.ts'
import { newId } from '../../../core/ids.ts'
import { type App, Apps } from '../../../schemas/app/app.ts'
import { reopenDelivery, reopenDropped } from '../../../schemas/delivery/deliveries.ts'
import { Deliveries, type Delivery } from '../../../schemas/delivery/delivery.ts'
import { claimDeliveries } from '../../../schemas/delivery/delivery-claims.ts'
import { DeliveryLanes } from '../../../schemas/delivery/delivery-lane.ts'
import { verifyWebhook } from '../../../sdk/src/verify-webhook.ts'
import { until } from '../../support/until.ts'
import { startEndpoint } from './receiver.ts'
import { happen, startDelivering, startWorld, testEvent, type World } from './world.ts'

const TIME_SCALE = 2_400
const DELAYS_MS = [2, 4, 8, 16, 32].map((minutes) => (minutes * 60_000) / TIME_SCALE)

const attempts = suite<{ world: World }>('attempts')
attempts.before(async (context) => {
  context.world = await startWorld({ timeScale: TIME_SCALE })
})
attempts.after(({ world }) => world.stop())

const oneOf = async (appId: string): Promise<string> => (await happen([testEvent(appId)]))[0] ?? ''

attempts('six attempts with doubling delays, then dropped; a replay by hand begins six more', async ({ world }) => {
  let status = 503
  const endpoint = await startEndpoint((response) => response.writeHead(status).end('not now'))
  await world.makeApp({ appId: 'failing', webhookUrl: endpoint.url })
  const delivering = startDelivering(world.runtime)
  const id = await oneOf('failing')
  const dropped = await world.ended(id)
  assert.is(dropped.state, 'dropped')
  assert.equal(
    dropped.attempts.map(({ number, status: answered, error, answer }) => ({ number, answered, error, answer })),
    [1, 2, 3, 4, 5, 6].map((number) => ({ number, answered: 503, error: 'Answered 503', answer: 'not now' })),
  )
  for (const [index, delay] of DELAYS_MS.entries()) {
    const [before, after] = [dropped.attempts[index], dropped.attempts[index + 1]]
    assert.ok((after?.at.getTime() ?? 0) - (before?.at.getTime() ?? 0) >= delay - 1)
  }
  const kept = (dropped.expireAt?.getTime() ?? 0) - (dropped.endedAt?.getTime() ?? 0)
  assert.is(kept, 30 * 86_400_000)
  assert.is(endpoint.requests.length, 6)
  const numbers = (await world.runtime.metrics.getSingleMetricAsString('ccs_claim_lateness_seconds')).split('\n')
  assert.ok(numbers.includes('ccs_claim_lateness_seconds_count{queue="deliveries"} 5'), numbers.join('\n'))

  assert.is(await reopenDelivery({ id, now: new Date() }), 'reopened')
  await until('the end of the second six', async () => (await world.delivery(id))?.attempts.length === 12)
  await world.ended(id)
  assert.is(endpoint.requests.length, 12)

  status = 200
  assert.is(await reopenDropped({ appId: 'failing', since: new Date(0), now: new Date() }), 1)
  const delivered = await world.ended(id)
  assert.is(delivered.state, 'delivered')
  assert.is(delivered.attempts.length, 13)
  assert.is(new Set(endpoint.requests.map(({ rawBody }) => rawBody)).size, 1)
  assert.is(new Set(endpoint.requests.map(({ deliveryId }) => deliveryId)).size, 1)
  assert.is(await reopenDelivery({ id, appId: 'another', now: new Date() }), 'unknown')
  await delivering.stop()
  await endpoint.stop()
})

attempts('one that failed at first is delivered later', async ({ world }) => {
  const endpoint = await startEndpoint((response, { number }) => response.writeHead(number < 4 ? 500 : 204).end())
  await world.makeApp({ appId: 'recovering', webhookUrl: endpoint.url })
  const delivering = startDelivering(world.runtime)
  const delivery = await world.ended(await oneOf('recovering'))
  assert.is(delivery.state, 'delivered')
  assert.equal(
    delivery.attempts.map(({ status }) => status),
    [500, 500, 500, 204],
  )
  await delivering.stop()
  await endpoint.stop()
})

attempts(
  'an attempt whose process is gone has failed: it counts, and nothing is sent for it again',
  async ({ world }) => {
    const endpoint = await startEndpoint((response) => response.writeHead(500).end())
    await world.makeApp({ appId: 'crashing', webhookUrl: endpoint.url })
    const now = new Date()
    const document: Delivery = {
      _id: newId(),
      appId: 'crashing',
      event: 'test.event',
      body: '{"deliveryId":"x"}',
      state: 'waiting',
      attempts: [],
      attemptsBefore: 0,
      createdAt: now,
      claimableAt: now,
      fence: 0,
    }
    await Deliveries.create(document)
    const claimed = await claimDeliveries({ appId: 'crashing', limit: 5, now })
    assert.is(claimed.begun.length, 1)
    assert.is(claimed.drained, true)
    assert.equal((await claimDeliveries({ appId: 'crashing', limit: 5, now })).begun, [])
    // The holder is killed; its claim runs out. The lane does not know: it is set right at the start.
    await Deliveries.updateOne({ _id: document._id }, { $set: { claimableAt: now } })
    await DeliveryLanes.create({ _id: 'crashing', version: 0 })
    const delivering = startDelivering(world.runtime)
    const dropped = await world.ended(document._id)
    assert.is(dropped.attempts.length, 6)
    assert.is(dropped.attempts[0]?.error, 'The attempt was interrupted by a restart of the service')
    assert.is(endpoint.requests.length, 5)
    await delivering.stop()
    await endpoint.stop()
  },
)

attempts('a result that comes after the claim was lost changes nothing', async ({ world }) => {
  let answer = () => undefined as unknown
  const endpoint = await startEndpoint((response) => {
    answer = () => response.writeHead(200).end()
  })
  await world.makeApp({ appId: 'stalled', webhookUrl: endpoint.url })
  const delivering = startDelivering(world.runtime)
  const id = await oneOf('stalled')
  await until('the request', () => endpoint.requests.length === 1)
  await Deliveries.updateOne({ _id: id }, { $set: { claimedBy: 'another holder' } })
  answer()
  await delivering.stop()
  const delivery = await world.delivery(id)
  assert.is(delivery?.state, 'waiting')
  assert.is(delivery?.claimedBy, 'another holder')
  assert.is(delivery?.attempts[0]?.status, undefined)
  await endpoint.stop()
})

attempts('during a rotation both secrets sign; without a secret nothing does', async ({ world }) => {
  const endpoint = await startEndpoint((response) => response.end())
  const { webhookSecret } = await world.makeApp({ appId: 'rotating', webhookUrl: endpoint.url })
  const { keyring } = world.runtime
  const app = await Apps.findById('rotating').lean<App>()
  if (!app) throw new Error('no app')
  const now = new Date()
  const sealed = (secret: string) =>
    seal(keyring.unwrap(app.key), { owner: 'rotating', purpose: 'webhook-secret' }, secret)
  const secretOf = (secret: string, expiresInMs: number) => ({
    id: newId(),
    sealed: sealed(secret),
    createdAt: now,
    expiresAt: new Date(now.getTime() + expiresInMs),
  })
  await Apps.updateOne(
    { _id: 'rotating' },
    { $push: { webhookSecrets: { $each: [secretOf('still valid', 60_000), secretOf('expired', -1)] } } },
  )
  const delivering = startDelivering(world.runtime)
  await world.ended(await oneOf('rotating'))
  await Apps.updateOne({ _id: 'rotating' }, { $set: { webhookSecrets: [] } })
  await world.ended(await oneOf('rotating'))
  const [rotating, unsigned] = endpoint.requests
  const signature = rotating?.headers['x-service-signature'] as string
  assert.match(signature, /^t=\d+,v1=[0-9a-f]{64},v1=[0-9a-f]{64}$/)
  for (const secret of [webhookSecret, 'still valid'])
    assert.is(verifyWebhook({ rawBody: rotating?.rawBody ?? '', signature, secret }).event, 'test.event')
  assert.throws(() => verifyWebhook({ rawBody: rotating?.rawBody ?? '', signature, secret: 'expired' }))
  assert.is(unsigned?.headers['x-service-signature'], undefined)
  await delivering.stop()
  await endpoint.stop()
})

attempts('a stop finishes what is under way', async ({ world }) => {
  const endpoint = await startEndpoint((response) => setTimeout(() => response.end(), 300))
  await world.makeApp({ appId: 'stopping', webhookUrl: endpoint.url })
  const delivering = startDelivering(world.runtime)
  const id = await oneOf('stopping')
  await until('the request', () => endpoint.requests.length === 1)
  await delivering.stop()
  assert.is((await world.delivery(id))?.state, 'delivered')
  await endpoint.stop()
})

attempts.run()
