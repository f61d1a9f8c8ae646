import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContextOptions } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Apps } from '../../schemas/app/app.ts'
import { trusted } from '../../schemas/database.ts'
import { Deliveries } from '../../schemas/delivery/delivery.ts'
import { type Lease, Leases } from '../../schemas/lease/lease.ts'
import { expireLeases } from '../../schemas/lease/lease-ends.ts'
import { until } from '../support/until.ts'
import { hostedPage, openVisitorBrowser } from '../support/visitor.ts'
import { type OwnSite, startOwnSite } from './own-site.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const ways = suite('the ways out of a sign-in')

/** `1` leads to a host that is not allowed, `2` opens a second window that stays, `3` goes on; what is typed into the field is told. */
const pages = (port: number) => ({
  '/': `<input autofocus><script>
const field = document.querySelector('input')
addEventListener('keydown', (event) => {
  const { key } = event
  if ('123'.includes(key)) event.preventDefault()
  if (key === '1') location.href = 'http://localhost:${port}/away'
  if (key === '2') open('/window')
  if (key === '3') { localStorage.setItem('kept', field.value); document.cookie = 'step=2'; location.href = '/second' }
})
addEventListener('input', () => tell('typed ' + field.value))
</script>`,
  '/window': '<h1>A second window</h1><script>tell("window")</script>',
  '/second': `<h1>Second</h1><script>tell('second ' + localStorage.getItem('kept') + ' ' + document.cookie)</script>`,
})

let site: OwnSite
let world: FarmWorld
let browser: Browser
let node: { stop(): Promise<void> }
ways.before(async () => {
  site = await startOwnSite({ pages })
  // Ten minutes of nobody's watching are ten seconds here.
  world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, FARM_CAPACITY: '1', TIME_SCALE: '60' } })
  await Apps.updateOne({ _id: 'shop' }, { $set: { connectEndedEvents: true, webhookUrl: 'http://127.0.0.1:9/hooks' } })
  node = await world.farm()
  browser = await openVisitorBrowser()
})
ways.after(async () => {
  await browser?.close()
  await world?.stop()
  await site?.stop()
})

async function open(userRef: string, options: BrowserContextOptions & { redirectUrl?: string } = {}) {
  const { redirectUrl, ...rest } = options
  const context = await browser.newContext(rest)
  const page = await context.newPage()
  await page.goto(world.link({ userRef, ...(redirectUrl !== undefined && { redirectUrl }) }))
  return { ...hostedPage(page), context, close: () => context.close() }
}
const leaseOf = async (userRef: string): Promise<Lease> => {
  const lease = await Leases.findOne({ userRef }).lean<Lease>()
  if (!lease) throw new Error('no lease')
  return lease
}
const endsOf = async (userRef: string) => {
  const told = await Deliveries.find({ event: 'connect.ended' }).lean()
  return told.map(({ body }) => JSON.parse(body).payload).filter((payload) => payload.userRef === userRef)
}

ways('Cancel asks once more, ends the flow and its browser, and goes back to the app', async () => {
  const back = createServer((_request, response) => response.end('the app'))
  await new Promise<void>((resolve) => back.listen(0, '127.0.0.1', resolve))
  const redirectUrl = `http://127.0.0.1:${(back.address() as AddressInfo).port}/back?a=1`
  const hosted = await open('cancels', { redirectUrl })
  await hosted.reaches('live')
  assert.match(String(await hosted.page.locator('[data-remote-host]').textContent()), `127.0.0.1:${site.port}`)
  await hosted.page.getByRole('button', { name: 'Cancel', exact: true }).click()
  const question = hosted.page.getByRole('dialog')
  await question.getByRole('button', { name: 'Go on' }).click()
  assert.is(await hosted.state(), 'live')
  await hosted.page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await question.getByRole('button', { name: 'Cancel sign-in' }).click()
  await hosted.page.getByRole('alert').filter({ hasText: 'was not connected to Acme Notes' }).waitFor()
  await hosted.page.waitForURL(`${redirectUrl}&status=cancelled`)
  const lease = await leaseOf('cancels')
  assert.equal([lease.state, lease.failure, lease.claimableAt], ['released', 'by_visitor', undefined])
  await until('the app to be told', async () => (await endsOf('cancels')).length === 1)
  assert.equal(await endsOf('cancels'), [{ userRef: 'cancels', outcome: 'cancelled', reason: 'by_visitor' }])
  await hosted.close()
  back.close()
})

ways('who waits for a browser has a number, and may cancel', async () => {
  const first = await open('first')
  await first.reaches('live')
  const waiting = await open('second')
  await waiting.page.getByText('You are number 1').waitFor()
  const third = await open('third')
  await third.page.getByText('You are number 2').waitFor()
  assert.is(await third.state(), 'waiting')
  await waiting.page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await waiting.page.getByRole('button', { name: 'Cancel sign-in' }).click()
  await third.page.getByText('You are number 1').waitFor()
  for (const each of [first, waiting, third]) await each.close()
  await until('nobody to hold a browser', async () => {
    await Leases.updateMany({ userRef: 'third' }, { $set: { expiresAt: new Date(0) } })
    await expireLeases({ filter: { userRef: 'third' }, now: new Date() })
    return (await leaseOf('first')).state === 'parked'
  })
})

ways('a flow that nobody watches gives its browser up, and goes on where it was', async () => {
  const hosted = await open('away')
  await hosted.reaches('live')
  await hosted.screen.focus()
  await hosted.page.keyboard.type('mine')
  await until('the text to arrive', () => site.told.includes('typed mine'))
  await hosted.press('3')
  await until('the second page', () => site.told.includes('second mine step=2'))
  await hosted.page.goto('about:blank')
  const lease = await until('the browser to go', async () => {
    const present = await leaseOf('away')
    return present.state === 'parked' ? present : null
  })
  assert.ok(lease.place, 'its place is kept')
  assert.not.match(JSON.stringify(lease.place), 'mine')
  site.told.length = 0
  await hosted.page.goto(`${world.baseUrl}/start`)
  await hosted.reaches('live')
  await until('the same page again', () => site.told.includes('second mine step=2'))
  await hosted.page.getByText('goes on where you were').waitFor()
  await Leases.updateOne({ userRef: 'away' }, { $set: { expiresAt: new Date(0) } })
  await expireLeases({ filter: { userRef: 'away' }, now: new Date() })
  await hosted.reaches('failed')
  assert.is((await leaseOf('away')).place, undefined, 'nothing is kept of a flow that has ended')
  await until('the app to be told', async () => (await endsOf('away')).length === 1)
  assert.equal(await endsOf('away'), [{ userRef: 'away', outcome: 'expired', reason: 'time_over' }])
  await hosted.close()
})

ways('a page that leads elsewhere stays as it was, and a second window can be closed', async () => {
  const hosted = await open('stays')
  await hosted.reaches('live')
  await hosted.screen.focus()
  site.told.length = 0
  await hosted.page.keyboard.type('half')
  await until('the text to arrive', () => site.told.includes('typed half'))
  await hosted.press('1')
  await hosted.page.getByText('localhost is not part of the sign-in').waitFor()
  await hosted.page.keyboard.type('more')
  await until('what was typed to be there still', () => site.told.includes('typed halfmore'))
  await hosted.press('2')
  await until('the second window', () => site.told.includes('window'))
  const close = hosted.page.getByRole('button', { name: 'Close this window' })
  await close.waitFor()
  const [button, stage] = [await close.boundingBox(), await hosted.page.locator('.stage').boundingBox()]
  assert.ok(button && stage && button.y >= stage.y + stage.height, 'it hides nothing of the window')
  await close.click()
  await close.waitFor({ state: 'hidden' })
  await until('the first one to take keys', async () => {
    await hosted.press('z')
    return site.told.some((what) => what.startsWith('typed halfmorez'))
  })
  await hosted.page.getByRole('button', { name: 'Cancel', exact: true }).click()
  await hosted.page.getByRole('button', { name: 'Cancel sign-in' }).click()
  await hosted.reaches('failed')
  await hosted.close()
})

ways('a provider that cannot be reached is said, and tried again in the same flow', async () => {
  await until(
    'room for another flow',
    async () => (await Leases.countDocuments({ claimedBy: trusted({ $exists: true }) })) === 0,
  )
  site.refuse(true)
  const hosted = await open('unreachable')
  await until('the page to say so', async () => (await hosted.state()) === 'failed', { giveUpMs: 60_000 })
  assert.match(String(await hosted.page.getByRole('alert').textContent()), 'Own Assistant')
  assert.is(await hosted.page.locator('[data-notice]').textContent(), '', 'the page itself says it')
  site.refuse(false)
  // The request is lost, which the visitor is told.
  await hosted.page.route('**/start/again', (route) => route.abort(), { times: 1 })
  await hosted.page.getByRole('button', { name: 'Try again' }).click()
  await hosted.page.getByText('Please try again in a moment').waitFor()
  await hosted.page.getByRole('button', { name: 'Try again' }).click()
  await hosted.reaches('live')
  assert.is(await Leases.countDocuments({ userRef: 'unreachable' }), 1)
  await hosted.close()
})

ways('texts are in the language of the link, else of the visitor', async () => {
  const german = await open('deutsch', { locale: 'de-AT' })
  assert.is(await german.page.locator('html').getAttribute('lang'), 'de')
  await german.page.getByRole('button', { name: 'Abbrechen', exact: true }).waitFor()
  const context = await browser.newContext({ locale: 'de-DE' })
  const page = await context.newPage()
  await page.goto(world.link({ userRef: 'english', locale: 'en-GB' }))
  assert.is(await page.locator('html').getAttribute('lang'), 'en')
  await context.close()
  await german.close()
  await node.stop()
})

ways.run()
