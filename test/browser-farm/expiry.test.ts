import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Leases } from '../../schemas/lease/lease.ts'
import { hostedPage, openVisitorBrowser } from '../support/visitor.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const expiry = suite('the hour of a flow')

let world: FarmWorld
let browser: Browser
expiry.before(async () => {
  world = await startFarmWorld({ env: { TIME_SCALE: '240' } })
  browser = await openVisitorBrowser()
})
expiry.after(async () => {
  await browser?.close()
  await world?.stop()
})

const reachesTheEnd = async (userRef: string): Promise<void> => {
  const page = await browser.newPage()
  await page.goto(world.link({ userRef }))
  await hostedPage(page).reaches('failed')
  assert.match(String(await page.getByRole('alert').textContent()), 'The time for this sign-in is over')
  await page.close()
}

expiry('ends while no node has room, too', async () => {
  await reachesTheEnd('nobody')
})

expiry('closes the browser and says what to do', async () => {
  await world.farm()
  await reachesTheEnd('slow')
  const lease = await Leases.findOne({ userRef: 'slow' }).lean()
  assert.equal([lease?.state, lease?.claimableAt, lease?.nodeUrl], ['failed', undefined, undefined])
})

expiry.run()
