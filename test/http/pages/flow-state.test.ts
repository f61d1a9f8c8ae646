import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { signLink } from '../../../sdk/src/index.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { until } from '../../support/until.ts'

let world: HttpWorld
test.before(async () => {
  world = await startHttpWorld()
})
test.after(() => world.stop())

const link = (options: { lifetimeSeconds?: number; now?: number }) => {
  const { appSecret } = world.one
  return signLink({ appId: 'app-one', appSecret, baseUrl: world.url, userRef: 'someone', ...options })
}
const stateOf = async (token: string): Promise<unknown> =>
  ((await (await fetch(`${world.url}/start/state`, { method: 'POST', body: token })).json()) as { state: unknown })
    .state

async function begin(token: string): Promise<void> {
  const taken = await fetch(`${world.url}/start?token=${token}`, { redirect: 'manual' })
  const cookie = String(taken.headers.get('set-cookie')).split(';')[0] ?? ''
  const page = await fetch(`${world.url}/start`, { headers: { cookie } })
  const flow = /data-flow="([^"]*)"/.exec(await page.text())?.[1] ?? ''
  const answer = await fetch(`${world.url}/start`, {
    method: 'POST',
    headers: { cookie, origin: world.runtime.config.BASE_URL },
    body: JSON.stringify({ flow, viewport: { width: 800, height: 600, deviceScaleFactor: 1, mobile: false } }),
  })
  assert.is(answer.status, 200)
}

test('a link that nobody opened in its time is expired', async () => {
  assert.is(await stateOf(link({}).token), 'open')
  assert.is(await stateOf(link({ now: Date.now() - 20 * 60_000 }).token), 'expired')
})

test('a flow outlives its link', async () => {
  const { token, expiresAt } = link({ lifetimeSeconds: 3 })
  await begin(token)
  await until('the link to expire', () => Date.now() > expiresAt.getTime())
  assert.is(await stateOf(token), 'open')
})

test.run()
