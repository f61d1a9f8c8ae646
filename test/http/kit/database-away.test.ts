import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { type HttpProcess, startHttpProcess } from '../../support/http-process.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../../support/proxy.ts'
import { seedConnection } from '../../support/seed.ts'
import { until } from '../../support/until.ts'

const PATH = '/api/connections?userRef=someone'
/** docs/security.md, Reliability; a request that takes longer fails the test. */
const ANSWER_MS = 5_000
let world: HttpWorld
let proxy: DatabaseProxy
let process: HttpProcess

test.before(async () => {
  world = await startHttpWorld()
  await seedConnection({ appId: 'app-one', userRef: 'someone' })
  proxy = await startDatabaseProxy(world.runtime.config.MONGODB_URL)
  process = await startHttpProcess({ ...world.env, MONGODB_URL: proxy.url })
})
test.after(async () => {
  proxy.restore()
  const status = await process.stop()
  await proxy.stop()
  await world.stop()
  assert.is(status, 0)
})

const ask = async (path = PATH, options = {}) => {
  const response = await fetch(`${process.url}${path}`, {
    headers: { authorization: `Bearer ${world.one.apiKey}` },
    signal: AbortSignal.timeout(ANSWER_MS),
    ...options,
  })
  return { status: response.status, body: await response.json() }
}

const failure = { status: 500, body: { error: 'Internal server error' } }
const purge = { method: 'POST', body: JSON.stringify({ appId: 'app-one', userRef: 'someone' }) }

for (const away of ['refuse', 'freeze'] as const) {
  test(`a database that is away (${away}) is answered 500 in time, and is found again`, async () => {
    assert.is((await ask()).status, 200)
    proxy[away]()
    assert.equal(await ask(), failure)
    assert.equal(await ask('/api/purge', purge), failure)
    assert.equal(await ask('/readyz'), { status: 503, body: { error: 'The database does not answer' } })
    assert.is((await ask('/healthz')).status, 200)
    proxy.restore()
    await until('it answers again', async () => (await ask()).status === 200)
    assert.is((await ask('/readyz')).status, 200)
  })
}

test.run()
