import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { signLink } from '../../../sdk/src/index.ts'
import { beginFlow } from '../../support/begin-flow.ts'
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

test('a link that nobody opened in its time is expired', async () => {
  assert.is(await stateOf(link({}).token), 'open')
  assert.is(await stateOf(link({ now: Date.now() - 20 * 60_000 }).token), 'expired')
})

test('a flow outlives its link', async () => {
  const { token, expiresAt } = link({ lifetimeSeconds: 3 })
  await beginFlow({ world, token })
  await until('the link to expire', () => Date.now() > expiresAt.getTime())
  assert.is(await stateOf(token), 'open')
})

test.run()
