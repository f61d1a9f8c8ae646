import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { unseal } from '../../core/envelope.ts'
import { Commands } from '../../schemas/command/command.ts'
import { BrowserProfiles } from '../../schemas/connection/browser-profile.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { Leases } from '../../schemas/lease/lease.ts'
import { PROFILE_PURPOSE } from '../../schemas/secrets.ts'
import { until } from '../support/until.ts'
import { hostedPage, openVisitorBrowser, PHONE, signIn } from '../support/visitor.ts'
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

/** The hosted page of a new link in a browser profile of its own. */
async function open(userRef: string, options: Parameters<Browser['newContext']>[0] = {}) {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  await page.goto(world.link({ userRef }))
  return { ...hostedPage(page), close: () => context.close() }
}

login('e-mail and password typed into the canvas make a connection; nothing is left of the browser', async () => {
  const hosted = await open('ada')
  assert.is(hosted.page.url(), `${world.baseUrl}/start`)
  await signIn(hosted, { email: 'ada@example.test' })
  await hosted.reaches('connected')
  const connection = await until('the connection', () => Connections.findOne({ userRef: 'ada' }).lean())
  const lease = await Leases.findOne({ userRef: 'ada' }).lean()
  assert.equal(
    [lease?.state, lease?.connectionId, lease?.claimableAt, lease?.nodeUrl],
    ['connected', connection._id, undefined, undefined],
  )
  const command = await Commands.findOne({ kind: 'connect', target: connection._id }).lean()
  assert.equal(command?.by, { kind: 'link', id: lease?._id })
  await hosted.close()
})

login('the browser profile is kept sealed and without the session cookie', async () => {
  const connection = await until('the connection', () => Connections.findOne({ userRef: 'ada' }).lean())
  const stored = await BrowserProfiles.findById(connection._id).lean()
  if (!connection.key || !stored) throw new Error('no profile was stored')
  const key = world.runtime.keyring.unwrap(connection.key)
  const state = unseal(key, { owner: connection._id, purpose: PROFILE_PURPOSE }, stored.sealed).toString('utf8')
  assert.ok(Array.isArray(JSON.parse(state).cookies))
  assert.not.match(state, 'session-token')
})

login('a code and a consent screen are waited through', async () => {
  const hosted = await open('verify')
  await signIn(hosted, { email: 'verify@example.test' })
  await hosted.screenChanged()
  assert.is(await hosted.state(), 'live')
  await hosted.type('123456')
  await hosted.press('Enter')
  await hosted.screenChanged()
  assert.is(await Connections.countDocuments({ userRef: 'verify' }), 0)
  await hosted.press('Enter')
  await hosted.reaches('connected')
  await hosted.close()
})

login('a login that opens a second window goes on there and comes back', async () => {
  const hosted = await open('popup')
  await signIn(hosted, { email: 'popup@example.test' })
  await hosted.screenChanged()
  await hosted.press('Enter')
  await hosted.reaches('connected')
  await hosted.close()
})

login('an account of another user ends with what to do next', async () => {
  const hosted = await open('somebody-else')
  await signIn(hosted, { email: 'ada@example.test' })
  const alert = hosted.page.getByRole('alert')
  await alert.waitFor()
  assert.match(String(await alert.textContent()), 'already connected to another user')
  assert.is(await hosted.state(), 'failed')
  assert.is(await Connections.countDocuments({ userRef: 'somebody-else' }), 0)
  await hosted.close()
})

login('on a phone the typing bar is enough', async () => {
  const hosted = await open('phone', PHONE)
  await hosted.reaches('live')
  await hosted.screenChanged()
  const { page, screen } = hosted
  const size = await screen.evaluate((canvas) => ({ ...(canvas as HTMLElement).dataset }))
  assert.is(size['remoteWidth'], '390')
  const text = page.getByRole('textbox', { name: 'Text to type' })
  await text.fill('wrong text')
  await page.getByRole('button', { name: 'Send' }).tap()
  await page.getByRole('button', { name: 'Clear field' }).tap()
  await text.fill('grace@example.test')
  await page.getByRole('button', { name: 'Enter' }).tap()
  await until('the password field to be noticed', () => page.getByRole('switch', { name: 'Hide text' }).isChecked())
  assert.is(await text.getAttribute('type'), 'password')
  await text.fill('secret')
  await page.getByRole('button', { name: 'Enter' }).tap()
  await hosted.reaches('connected')
  const agent = (await Leases.findOne({ userRef: 'phone' }).lean())?.viewport
  assert.is(agent?.mobile, true)
  await hosted.close()
})

login('after success the page goes to the redirectUrl of the link', async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(world.link({ userRef: 'back', redirectUrl: `${world.site.url}/login?back` }))
  await signIn(hostedPage(page), { email: 'empty@example.test' })
  await page.waitForURL(`${world.site.url}/login?back&status=connected`)
  await context.close()
})

login.run()
