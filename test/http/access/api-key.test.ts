import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { newApiKey, sha256 } from '../../../core/ids.ts'
import { Apps } from '../../../schemas/app/app.ts'
import { apiKeyRecord } from '../../../schemas/app/apps.ts'
import { createCountedFinder, findCaller } from '../../../schemas/app/request-count.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { startHttpProcess } from '../../support/http-process.ts'
import { seedConnection } from '../../support/seed.ts'

const PATH = '/api/connections?userRef=someone'
let world: HttpWorld

test.before(async () => {
  world = await startHttpWorld()
  await seedConnection({ appId: 'app-one', userRef: 'someone' })
})
test.after(async () => {
  await world.stop()
})

test('what is missing or wrong is told apart', async () => {
  const error = async (authorization: string | undefined) => {
    const headers = authorization === undefined ? {} : { authorization }
    const { status, body } = await world.ask<{ error: string }>(PATH, {
      key: null,
      headers: headers as Record<string, string>,
    })
    return `${status} ${body.error}`
  }
  const missing = '401 Missing Authorization header'
  const invalid = '401 Invalid API key'
  assert.is(await error(undefined), missing)
  assert.is(await error('Basic abc'), missing)
  assert.is(await error(world.one.apiKey), missing)
  assert.is(await error('Bearer '), missing)
  assert.is(await error('Bearer abc'), invalid)
  assert.is(await error(`Bearer ${newApiKey()}`), invalid)
  assert.is(await error(`Bearer ${world.one.apiKey.slice(0, -1)}`), invalid)
  assert.is(await error(`Bearer ${'x'.repeat(5_000)}`), invalid)
  assert.is(await error(`Bearer ${sha256(world.one.apiKey)}`), invalid)
  assert.is(await error(`Bearer ${world.one.webhookSecret}`), invalid)
})

test('several keys work at once; a revoked one does not', async () => {
  const key = newApiKey()
  const record = apiKeyRecord({ key, name: 'second', createdBy: 'test', now: new Date() })
  await Apps.updateOne({ _id: 'app-one' }, { $push: { apiKeys: record } })
  assert.is((await world.ask(PATH, { key })).status, 200)
  assert.is((await world.ask(PATH)).status, 200)
  const caller = await findCaller({ credential: key, now: new Date() })
  assert.equal(caller?.by, { kind: 'api-key', id: record.id })
  await Apps.updateOne({ _id: 'app-one' }, { $set: { 'apiKeys.1.revokedAt': new Date() } })
  assert.is((await world.ask(PATH, { key })).status, 401)
  assert.is((await world.ask(PATH)).status, 200)
})

test('the app secret still works, deprecated', async () => {
  const { status, headers } = await world.ask(PATH, { key: world.one.appSecret })
  assert.is(status, 200)
  assert.match(headers.get('deprecation') ?? '', /^@\d+$/)
  assert.ok(Date.parse(headers.get('sunset') ?? ''))
  assert.is((await world.ask(PATH)).headers.get('deprecation'), null)
  await Apps.updateOne({ _id: 'app-two' }, { $set: { 'linkSecrets.0.expiresAt': new Date(0) } })
  assert.is((await world.ask(PATH, { key: world.two.appSecret })).status, 401)
})

test('every answer of a limited endpoint tells the rate, and beyond the limit when to come back', async () => {
  const { apiKey: key } = await world.makeApp('limited', { requestsPerMinute: 3 })
  // One request each, whatever it is answered.
  const paths = ['/api/connections', '/api/conversations?connectionId=x', '/api/connections?userRef=none']
  const seen = []
  for (const path of [...paths, ...paths]) seen.push(await world.ask<{ error: string }>(path, { key }))
  const minute = Number(seen[0]?.headers.get('ratelimit-reset')) - 60
  assert.ok(Math.abs(Date.now() / 1000 - minute) < 70)
  const whole = seen.every(({ headers }) => Number(headers.get('ratelimit-reset')) === minute + 60)
  // The minute may turn in between; then the count began again.
  if (!whole) return
  assert.equal(
    seen.map(({ status, headers }) => [status, headers.get('ratelimit-limit'), headers.get('ratelimit-remaining')]),
    [
      [400, '3', '2'],
      [400, '3', '1'],
      [404, '3', '0'],
      [429, '3', '0'],
      [429, '3', '0'],
      [429, '3', '0'],
    ],
  )
  assert.equal(seen[3]?.body, { error: 'Rate limit exceeded' })
  const wait = Number(seen[3]?.headers.get('retry-after'))
  assert.ok(wait >= 1 && wait <= 60)
  assert.is(seen[0]?.headers.get('retry-after'), null)
})

test('the count of a minute is exact and never goes back', async () => {
  const { apiKey: credential } = await world.makeApp('counted')
  const count = async (now: number) => {
    const clock = { ...world.runtime.clock, now: () => new Date(now) }
    return (await createCountedFinder({ clock })(credential))?.rate
  }
  const minute = 29_000_000
  assert.equal(await count(minute * 60_000), { minute, count: 1 })
  assert.equal(await count((minute + 1) * 60_000 - 1), { minute, count: 2 })
  assert.equal(await count((minute + 1) * 60_000), { minute: minute + 1, count: 1 })
  // Another process's clock is a little behind.
  assert.equal(await count((minute + 1) * 60_000 - 1), { minute: minute + 1, count: 2 })
  const counts = await Promise.all(Array.from({ length: 200 }, () => count((minute + 2) * 60_000)))
  assert.equal(
    counts.map((rate) => rate?.count).sort((a = 0, b = 0) => a - b),
    Array.from({ length: 200 }, (_, index) => index + 1),
  )
  // Requests of one process are counted together, each with a place of its own.
  const find = createCountedFinder({ clock: { ...world.runtime.clock, now: () => new Date((minute + 3) * 60_000) } })
  const together = await Promise.all(Array.from({ length: 200 }, () => find(credential)))
  assert.equal(
    together.map((caller) => caller?.rate.count),
    Array.from({ length: 200 }, (_, index) => index + 1),
  )
})

test('of 200 parallel requests to two processes never more than 60 pass in a minute', async () => {
  const { apiKey: key } = await world.makeApp('parallel', { requestsPerMinute: 60 })
  const processes = await Promise.all([startHttpProcess(world.env), startHttpProcess(world.env)])
  try {
    const answers = await Promise.all(
      Array.from({ length: 200 }, (_, index) => world.ask(PATH, { key, url: processes[index % 2]?.url ?? '' })),
    )
    const passed = new Map<string, number>()
    for (const { status, headers } of answers) {
      const reset = headers.get('ratelimit-reset') ?? ''
      if (status !== 429) passed.set(reset, (passed.get(reset) ?? 0) + 1)
    }
    assert.ok(answers.every(({ status }) => status === 404 || status === 429))
    assert.ok([...passed.values()].every((count) => count <= 60))
    if (passed.size === 1) assert.equal([...passed.values()], [60])
  } finally {
    await Promise.all(processes.map(({ stop }) => stop()))
  }
})

test.run()
