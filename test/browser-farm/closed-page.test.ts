import { once } from 'node:events'
import type { Browser } from 'playwright'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { WebSocket } from 'ws'
import { STREAM_PATH } from '../../wire/stream-constants.ts'
import { until } from '../support/until.ts'
import { type HostedPage, openVisitorBrowser } from '../support/visitor.ts'
import { anyKeySignsIn, leaseOf, openLiveFlow } from './open-flow.ts'
import { type OwnSite, startOwnSite } from './own-site.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

let site: OwnSite
let world: FarmWorld
let browser: Browser
test.before(async () => {
  site = await startOwnSite(anyKeySignsIn)
  world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '20' } })
  await world.farm()
  browser = await openVisitorBrowser()
})
test.after(async () => {
  await browser?.close()
  await world?.stop()
  await site?.stop()
})

const open = (userRef: string) => openLiveFlow({ browser, world, userRef })

/** A page of the same flow that a test can break off without a word, as a phone does that suspends it. */
async function takeOver({ page }: HostedPage): Promise<WebSocket> {
  const cookies = await page.context().cookies()
  const flow = await page.locator('[data-flow]').getAttribute('data-flow')
  const socket = new WebSocket(`${world.baseUrl.replace('http', 'ws')}${STREAM_PATH}?flow=${flow}`, {
    headers: { cookie: cookies.map(({ name, value }) => `${name}=${value}`).join('; '), origin: world.baseUrl },
  })
  await once(socket, 'message')
  return socket
}

test('a closed page gives its browser up before one that is out of reach', async () => {
  const lost = await takeOver(await open('out of reach'))
  const closed = await open('closed')
  lost.terminate()
  await until('it to be missed', async () => (await leaseOf('out of reach')).leftAt)
  await closed.close()
  await until('its browser to go', async () => (await leaseOf('closed')).state === 'parked')
  assert.is((await leaseOf('out of reach')).state, 'live')
})

test.run()
