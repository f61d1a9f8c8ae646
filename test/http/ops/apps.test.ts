import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Apps } from '../../../schemas/app/app.ts'
import { Commands } from '../../../schemas/command/command.ts'
import { appAnswer, appsAnswer, newAppAnswer, testEventAnswer } from '../../../wire/ops-apps.ts'
import { type HttpWorld, OPERATOR_KEY, startHttpWorld } from '../../support/http.ts'
import { operatorOf, post } from './operator.ts'

let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
})
test.after(async () => {
  await world.stop()
})

const operate = operatorOf(() => world)

test('an app is taken on and changed', async () => {
  const body = { appId: 'fresh', appName: 'Fresh', contactEmail: 'a@example.test', ownerEmail: 'b@example.test' }
  const made = await operate(
    newAppAnswer,
    'apps',
    post({ ...body, primaryColor: '#112233', requestsPerMinute: 7 }),
    201,
  )
  assert.match(made.apiKey, /^ccs_/)
  const listing = await world.ask<{ error: string }>('/api/connections?userRef=x', { key: made.apiKey })
  assert.equal([listing.status, listing.headers.get('ratelimit-limit')], [404, '7'])
  const taken = await world.ask('/ops/apps', { key: OPERATOR_KEY, ...post(body) })
  assert.equal([taken.status, taken.body], [409, { error: 'App already exists' }])
  const patch = (change: object) => ({ method: 'PATCH', body: change })
  const changed = await operate(
    appAnswer,
    'apps/fresh',
    patch({ appName: 'Newer', primaryColor: null, webhookUrl: 'https://x.example/hook' }),
  )
  assert.equal([changed.appName, changed.primaryColor, changed.webhookUrl], ['Newer', null, 'https://x.example/hook'])
  assert.is((await Apps.findById('fresh').lean())?.primaryColor, undefined)
  assert.ok((await operate(appsAnswer, 'apps')).apps.some(({ appId }) => appId === 'fresh'))
  assert.is((await world.ask('/ops/apps/none', { key: OPERATOR_KEY, ...patch({ appName: 'x' }) })).status, 404)
  for (const wrong of [
    { appId: 'other' },
    { primaryColor: 'red' },
    { webhookUrl: 'ftp://x' },
    { requestsPerMinute: 0 },
    { appName: '' },
    { appName: 'Shop\r\nBcc: everybody@example.test' },
    { appName: 'Shop\u0007' },
    { appName: 'Shop\u2028Two' },
  ]) {
    assert.is(
      (await world.ask('/ops/apps/fresh', { key: OPERATOR_KEY, ...patch(wrong) })).status,
      400,
      JSON.stringify(wrong),
    )
  }
  for (const wrong of [
    {},
    { ...body, appId: 'a b' },
    { ...body, appId: 'x', ownerEmail: 'nobody' },
    { ...body, more: 1 },
    { ...body, appId: 'x', appName: 'Shop\nSubject: x' },
  ]) {
    assert.is((await world.ask('/ops/apps', { key: OPERATOR_KEY, ...post(wrong) })).status, 400, JSON.stringify(wrong))
  }
})

test('an app without a webhook shows what was discarded; a test event is a command', async () => {
  const at = new Date()
  await Apps.updateOne({ _id: 'app-two' }, { $set: { discarded: { events: 7, at } } })
  const { apps } = await operate(appsAnswer, 'apps')
  const two = apps.find(({ appId }) => appId === 'app-two')
  assert.equal([two?.webhookUrl, two?.discardedEvents, two?.lastDiscardedAt], [null, 7, at.toISOString()])

  const { deliveryId } = await operate(testEventAnswer, 'apps/app-two/test-event', post())
  assert.is(deliveryId, null)
  const command = await Commands.findOne({ kind: 'test-event', target: 'app-two' }).lean()
  assert.equal([command?.by.kind, command?.state, command?.result], ['operator', 'done', { deliveryId }])
  assert.equal(
    command?.outbox.map(({ event, payload }) => [event, JSON.parse(payload)]),
    [['test.event', { userRef: 'test', message: 'A test event, sent by an operator' }]],
  )
  assert.ok(command?.outboxAt)
  const unknown = await world.ask('/ops/apps/unheard-of/test-event', { key: OPERATOR_KEY, ...post() })
  assert.is(unknown.status, 404)
})

test.run()
