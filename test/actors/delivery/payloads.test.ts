import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { verifyWebhook } from '../../../sdk/src/verify-webhook.ts'
import type { EventName, EventPayloads } from '../../../wire/events.ts'
import { type Receiver, startReceiver } from '../../support/receiver.ts'
import { happen, startDelivering, startWorld, type World } from './world.ts'

const ID = '0d9a3c9e-6a4e-4a5c-9d0f-3d1f6f5b7a11'
const OTHER_ID = '3b2f6a64-7f5d-4a43-8f6e-0d1b7a9e2c55'
const TIME = '2026-09-30T12:00:00.000Z'

const PAYLOADS: Partial<EventPayloads> = {
  'connect.started': {
    userRef: 'häuser/1',
    user_id: ID,
    connector: 'sandbox-assistant',
    scopes: ['conversations:read'],
  },
  'connection.created': {
    connectionId: ID,
    userRef: 'u "quoted" \\ \u2028',
    userId: OTHER_ID,
    connectorId: 'sandbox-assistant',
    provider: 'sandbox-assistant',
    replaces: [OTHER_ID],
  },
  'data.imported': {
    connectionId: ID,
    userRef: 'u',
    inserted: 3,
    updated: 0,
    unchanged: 9,
    total: 12,
    importedAt: TIME,
  },
  'reauth.needed': {
    connectionId: ID,
    userRef: 'u',
    provider: 'p',
    reason: 'session rejected',
    lastSuccessfulPull: null,
  },
  'data.deleted': {
    userRef: '💬',
    providers: ['p'],
    connectionIds: [ID, OTHER_ID],
    conversationsDeleted: 2,
    deletedAt: TIME,
  },
  'connection.deleted': { connectionId: ID, userRef: 'u', provider: 'p', conversationsDeleted: 0, deletedAt: TIME },
}

interface Context {
  world: World
  receiver: Receiver
}
const payloads = suite<Context>('payloads')

payloads.before(async (context) => {
  context.world = await startWorld()
  context.receiver = await startReceiver()
})
payloads.after(async ({ world, receiver }) => {
  await receiver.stop()
  await world.stop()
})

payloads('each event goes out exactly, signed, under the stored bytes', async ({ world, receiver }) => {
  const { webhookSecret } = await world.makeApp({ appId: 'one', webhookUrl: receiver.url })
  const delivering = startDelivering(world.runtime)
  const names = Object.keys(PAYLOADS) as EventName[]
  const ids = await happen(
    names.map((event) => ({ appId: 'one', event, payload: PAYLOADS[event] as EventPayloads[EventName] })),
  )
  for (const [index, event] of names.entries()) {
    const id = ids[index] ?? ''
    const delivery = await world.ended(id)
    const request = receiver.requests.find(({ deliveryId }) => deliveryId === id)
    const body = { event, payload: PAYLOADS[event], deliveryId: id }
    assert.is(delivery.state, 'delivered')
    assert.is(delivery.body, JSON.stringify(body))
    assert.is(request?.rawBody, delivery.body)
    assert.is(request?.headers['content-type'], 'application/json')
    assert.is(request?.headers['x-service-event'], event)
    const signature = request?.headers['x-service-signature'] as string
    assert.match(signature, /^t=\d{10},v1=[0-9a-f]{64}$/)
    assert.equal(verifyWebhook({ rawBody: delivery.body, signature, secret: webhookSecret }), body)
    assert.is(delivery.attempts.length, 1)
    assert.is(delivery.attempts[0]?.status, 204)
    assert.not.ok(delivery.claimableAt)
    assert.not.ok(delivery.claimedBy)
  }
  assert.is(receiver.requests.length, names.length)
  await delivering.stop()
})

payloads.run()
