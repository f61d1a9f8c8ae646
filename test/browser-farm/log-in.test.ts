import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { BrowserProfiles } from '../../schemas/browser-profile.ts'
import { Connections } from '../../schemas/connection.ts'
import { Leases } from '../../schemas/lease.ts'
import { until } from '../support/until.ts'
import { hostedPage, openVisitorBrowser, signIn } from '../support/visitor.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const login = suite('logging in on the hosted page')

let world: FarmWorld
let browser: Browser
login.before(async () => {
  world = await startFarmWorld()
  await world.farm()
  browser = await openVisitorBrowser()
})
login.after(async () => {
  await browser?.close()
  await world?.stop()
})

login('e-mail and password typed into the canvas make a connection', async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(world.link({ userRef: 'ada' }))
  assert.is(page.url(), `${world.baseUrl}/start`)
  const hosted = hostedPage(page)
  await signIn(hosted, { email: 'ada@example.test' })
  await hosted.reaches('connected')
  const connection = await until('the connection', () => Connections.findOne({ userRef: 'ada' }).lean())
  assert.is(connection.status, 'active')
  assert.ok(await BrowserProfiles.exists({ _id: connection._id }))
  const lease = await Leases.findOne({ userRef: 'ada' }).lean()
  assert.equal(
    [lease?.state, lease?.connectionId, lease?.claimableAt, lease?.nodeUrl],
    ['connected', connection._id, undefined, undefined],
  )
  await context.close()
})

login.run()
