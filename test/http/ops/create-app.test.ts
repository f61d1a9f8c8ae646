import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type App, Apps } from '../../../schemas/app/app.ts'
import type { AppSecrets } from '../../../schemas/app/apps.ts'
import { type HttpWorld, OPERATOR_KEY, startHttpWorld } from '../../support/http.ts'
import { until } from '../../support/until.ts'

let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
})
test.after(async () => {
  await world.stop()
})

const bodyOf = (appId: string) => ({
  appId,
  appName: appId,
  contactEmail: 'a@example.test',
  ownerEmail: 'b@example.test',
})

const create = (appId: string, idempotencyKey?: string) =>
  world.ask<AppSecrets & { error?: string }>('/ops/apps', {
    method: 'POST',
    key: OPERATOR_KEY,
    body: bodyOf(appId),
    headers: idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey },
  })

const works = async (key: string) => (await world.ask('/api/connections?userRef=nobody', { key })).status === 404

test('a taken id is refused, with the same words too', async () => {
  assert.is((await create('taken')).status, 201)
  assert.equal((await create('taken')).body, { error: 'App already exists' })
  assert.is((await Apps.findById('taken').lean<App>())?.creation?.unanswered, undefined)
})

test('an app that was made and never answered is made anew', async () => {
  const insert = Apps.create
  // The process is killed, or the database's answer lost, once the app is there.
  Apps.create = (async (...args: Parameters<typeof insert>) => {
    await insert.apply(Apps, args)
    throw new Error('the answer was lost')
  }) as typeof insert
  assert.is((await create('lost')).status, 500)
  Apps.create = insert
  const before = (await Apps.findById('lost').lean<App>())?.apiKeys[0]?.id
  assert.ok(before)
  const { status, body } = await create('lost')
  assert.is(status, 201)
  assert.ok(await works(body.apiKey))
  assert.is((await create('lost')).status, 409)
})

test('a client that went away before the answer may ask again', async () => {
  const insert = Apps.create
  let arrived = false
  let goOn = (): void => undefined
  const gone = new Promise<void>((resolve) => {
    goOn = resolve
  })
  Apps.create = (async (...args: Parameters<typeof insert>) => {
    arrived = true
    await gone
    return insert.apply(Apps, args)
  }) as typeof insert
  const closed = new Promise<void>((resolve) => {
    world.server.once('request', (_request, response) => response.once('close', resolve))
  })
  const abort = new AbortController()
  const headers = { authorization: `Bearer ${OPERATOR_KEY}` }
  const body = JSON.stringify(bodyOf('gone'))
  const asked = fetch(`${world.url}/ops/apps`, { method: 'POST', headers, body, signal: abort.signal })
  await until('the request is at work', () => arrived || null)
  abort.abort()
  await asked.catch(() => undefined)
  await closed
  Apps.create = insert
  goOn()
  await until('the app is there', async () => (await Apps.findById('gone').lean<App>())?.creation?.unanswered ?? null)
  const again = await until('it is made anew', async () => {
    const answer = await create('gone')
    return answer.status === 201 ? answer : null
  })
  assert.ok(await works(again.body.apiKey))
})

test('of parallel requests for one id one is answered, with secrets that work', async () => {
  const answers = await Promise.all(Array.from({ length: 8 }, () => create('raced')))
  const made = answers.filter(({ status }) => status === 201)
  assert.equal(answers.map(({ status }) => status).sort(), [201, ...Array(7).fill(409)])
  assert.ok(await works(made[0]?.body.apiKey ?? ''))
})

test('an answer lost on its way is asked for again with the same key, until a secret was used', async () => {
  const first = (await create('again', 'key-1')).body
  const second = await create('again', 'key-1')
  assert.is(second.status, 201)
  assert.is.not(second.body.apiKey, first.apiKey)
  assert.is((await create('again', 'key-2')).status, 409)
  assert.is((await create('again')).status, 409)
  assert.equal([await works(first.apiKey), await works(second.body.apiKey)], [false, true])
  assert.is((await create('again', 'key-1')).status, 409)

  await create('keyed', 'key-3')
  const path = '/ops/apps/keyed/keys'
  await world.ask(path, { method: 'POST', key: OPERATOR_KEY, body: { name: 'seen' } })
  assert.is((await create('keyed', 'key-3')).status, 409, 'an operator gave it a key that somebody saw')

  await create('old', 'key-4')
  await Apps.updateOne({ _id: 'old' }, { $set: { createdAt: new Date(Date.now() - 3_700_000) } })
  assert.is((await create('old', 'key-4')).status, 409)
})

test.run()
