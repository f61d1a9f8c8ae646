import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Leases } from '../../schemas/lease/lease.ts'
import { releaseLeases } from '../../schemas/lease/lease-ends.ts'
import { until } from '../support/until.ts'
import { openVisitorBrowser } from '../support/visitor.ts'
import { leaseOf, openFlow } from './open-flow.ts'
import { type OwnSite, startOwnSite } from './own-site.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const busy = suite('a page whose script never ends holds up nobody')

const BUSY = '<p>Please wait</p><script>for (;;);</script>'
const CALM = `<h1>Log in</h1><script>
localStorage.setItem('theme', 'dark')
addEventListener('keydown', () => { tell('busy from now on').then(() => { for (;;); }) })
</script>`
/** The provider has 40 s for its first page. */
const PATIENCE = { giveUpMs: 90_000 }

let login = CALM
let site: OwnSite
let world: FarmWorld
let browser: Browser
busy.before(async () => {
  site = await startOwnSite({ pages: () => ({ '/': login }) })
  world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, FARM_CAPACITY: '1', TIME_SCALE: '60' } })
  await world.farm()
  browser = await openVisitorBrowser()
})
busy.after(async () => {
  await browser?.close()
  await world?.stop()
  await site?.stop()
})

const open = (userRef: string) => openFlow({ browser, world, userRef })
const parked = (userRef: string) =>
  until('the flow to give its browser up', () => Leases.exists({ userRef, state: 'parked' }), PATIENCE)
/** The one place of the node is free again. */
const placeIsFree = async (userRef: string): Promise<void> => {
  login = CALM
  const hosted = await open(userRef)
  await hosted.reaches('live')
  await releaseLeases({ filter: { userRef }, now: new Date() })
  await hosted.close()
}

busy('a login page that is busy from its beginning is too slow, and is told so in time', async () => {
  login = BUSY
  const hosted = await open('slow')
  await parked('slow')
  assert.is((await leaseOf('slow')).parkedFor, 'provider_slow')
  await hosted.close()
  await placeIsFree('after-slow')
})

busy('a flow that ends meanwhile gives its browser back', async () => {
  login = BUSY
  const before = site.requests.length
  const hosted = await open('ended')
  await until('the busy page', () => site.requests.slice(before).includes('127.0.0.1/'))
  await releaseLeases({ filter: { userRef: 'ended' }, now: new Date() })
  await hosted.close()
  await placeIsFree('after-ended')
})

busy('a visitor who leaves such a page has no place there, and nobody waits for it', async () => {
  login = CALM
  const hosted = await open('left')
  await hosted.reaches('live')
  await hosted.press('x')
  await until('the page to be busy', () => site.told.includes('busy from now on'))
  await hosted.close()
  await parked('left')
  assert.is((await leaseOf('left')).place, undefined)
  await placeIsFree('after-left')
})

busy.run()
