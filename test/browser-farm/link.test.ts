import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { WebSocket } from 'ws'
import { Leases } from '../../schemas/lease/lease.ts'
import { ConsumedLinks } from '../../schemas/user/consumed-link.ts'
import { signLink } from '../../sdk/src/index.ts'
import { CLOSE_PROTOCOL } from '../../wire/stream-constants.ts'
import { until } from '../support/until.ts'
import { hostedPage, openVisitorBrowser } from '../support/visitor.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const links = suite('links of the hosted page')

let world: FarmWorld
let browser: Browser
links.before(async () => {
  world = await startFarmWorld()
  await world.farm()
  browser = await openVisitorBrowser()
})
links.after(async () => {
  await browser?.close()
  await world?.stop()
})

const open = async (address: string) => {
  const context = await browser.newContext()
  const page = await context.newPage()
  const response = await page.goto(address)
  return { context, ...hostedPage(page), response }
}

links('opening a link consumes nothing; its page says nothing to others', async () => {
  const answer = await fetch(world.link({ userRef: 'scanner' }), { redirect: 'manual' })
  assert.equal([answer.status, answer.headers.get('location')], [303, '/start'])
  assert.match(String(answer.headers.get('set-cookie')), /^ccs_start=[\w-]+; .*Path=\/start; .*HttpOnly; SameSite=Lax/)
  assert.is(await ConsumedLinks.countDocuments({}), 0)
  const page = await fetch(`${world.baseUrl}/start`, {
    headers: { cookie: String(answer.headers.get('set-cookie')).split(';')[0] ?? '' },
  })
  assert.is(page.status, 200)
  assert.match(
    String(page.headers.get('content-security-policy')),
    "default-src 'none'; script-src 'self'; style-src 'self'",
  )
  assert.is(page.headers.get('referrer-policy'), 'no-referrer')
  assert.is(page.headers.get('cache-control'), 'no-store')
  assert.is(page.headers.get('cross-origin-opener-policy'), 'same-origin')
  assert.is(await ConsumedLinks.countDocuments({}), 0)
})

links('a reload resumes the same screen; a second tab takes it over and gives it back', async () => {
  const link = world.link({ userRef: 'reload' })
  const first = await open(link)
  await first.reaches('live')
  await first.screenChanged()
  await first.type('half@typed')
  await first.screenChanged()
  await first.page.reload()
  await first.reaches('live')
  const second = await first.context.newPage()
  await second.goto(link)
  await hostedPage(second).reaches('live')
  const button = first.page.getByRole('button', { name: 'Continue here' })
  await button.click()
  await first.reaches('live')
  assert.is(await Leases.countDocuments({ userRef: 'reload' }), 1)
  assert.is((await Leases.findOne({ userRef: 'reload' }).lean())?.fence, 1, 'one browser all along')
  await first.context.close()
})

links('in another browser a used link is an error and nothing else', async () => {
  const link = world.link({ userRef: 'twice' })
  const first = await open(link)
  await first.reaches('live')
  const second = await open(link)
  assert.is(second.response?.status(), 403)
  assert.match(String(await second.page.getByRole('alert').textContent()), 'This link has already been used')
  assert.is(await first.state(), 'live')
  assert.is(await Leases.countDocuments({ userRef: 'twice' }), 1)
  await Promise.all([first.context.close(), second.context.close()])
})

links('two browsers that open a link before either begins: one of them gets it', async () => {
  const link = world.link({ userRef: 'race' })
  const [first, second] = await Promise.all([open(link), open(link)])
  // On a slow machine the one has begun before the other's page is there: that one is told so at once.
  const outcome = async ({ response, state }: typeof first): Promise<string> =>
    response?.status() === 403
      ? 'failed'
      : until('an answer', async () => {
          const present = String(await state())
          return ['live', 'failed'].includes(present) ? present : null
        })
  assert.equal((await Promise.all([outcome(first), outcome(second)])).sort(), ['failed', 'live'])
  assert.is(await Leases.countDocuments({ userRef: 'race' }), 1)
  await Promise.all([first.context.close(), second.context.close()])
})

links('links that are no links are told from one another', async () => {
  const alertOf = async (address: string): Promise<string> => {
    const { context, page } = await open(address)
    const text = String(await page.getByRole('alert').textContent())
    await context.close()
    return text
  }
  assert.match(await alertOf(`${world.baseUrl}/start`), 'opens from a link')
  assert.match(await alertOf(`${world.baseUrl}/start?token=nonsense`), 'not valid')
  const old = world.link({ userRef: 'late', now: Date.now() - 3_600_000 })
  assert.match(await alertOf(old), 'has expired')
  const forged = signLink({ appId: 'shop', appSecret: 'x'.repeat(40), userRef: 'forged', baseUrl: world.baseUrl })
  assert.match(await alertOf(forged.url), 'not valid')
  assert.match(await alertOf(world.link({ userRef: 'other', provider: 'unheard-of' })), 'cannot be connected')
})

links('the stream opens for our own origin and the flow of the cookie only', async () => {
  const { context, page, reaches } = await open(world.link({ userRef: 'origin' }))
  await reaches('live')
  const [cookie] = await context.cookies(`${world.baseUrl}/start`)
  const flow = await page.locator('main').getAttribute('data-flow')
  const address = `${world.baseUrl.replace('http', 'ws')}/start/stream?flow=${flow}`
  const statusOf = (headers: Record<string, string>): Promise<number> =>
    new Promise((resolve, reject) => {
      const socket = new WebSocket(address, { headers })
      socket.on('unexpected-response', (_, response) => {
        resolve(response.statusCode ?? 0)
        socket.terminate()
      })
      socket.on('open', () => {
        resolve(101)
        socket.terminate()
      })
      socket.on('error', reject)
    })
  const headers = { cookie: `${cookie?.name}=${cookie?.value}`, origin: world.baseUrl }
  assert.is(await statusOf({ ...headers, origin: 'https://evil.example' }), 403)
  assert.is(await statusOf({ cookie: headers.cookie }), 403)
  assert.is(await statusOf({ origin: headers.origin }), 401)
  assert.is(await statusOf(headers), 101)
  await context.close()
})

links('a language that no texts are in is none', async () => {
  for (const locale of ['constructor', '__proto__', 'toString', 'xx-XX']) {
    const { context, page, reaches } = await open(world.link({ userRef: `speaks-${locale}`, locale }))
    await reaches('live')
    assert.is(await page.locator('html').getAttribute('lang'), 'en', locale)
    await context.close()
  }
})

links('a page that sends what is no message is hung up on, and its flow goes on', async () => {
  const { context, page, reaches } = await open(world.link({ userRef: 'odd' }))
  await reaches('live')
  const [cookie] = await context.cookies(`${world.baseUrl}/start`)
  const flow = await page.locator('main').getAttribute('data-flow')
  const headers = { cookie: `${cookie?.name}=${cookie?.value}`, origin: world.baseUrl }
  for (const odd of ['nonsense', Buffer.from('nonsense'), '{"type":"input","page":"x","number":1,"input":{}}']) {
    const socket = new WebSocket(`${world.baseUrl.replace('http', 'ws')}/start/stream?flow=${flow}`, { headers })
    socket.on('message', (text) => String(text).includes('"live"') && socket.send(odd))
    const code = await new Promise((resolve) => socket.once('close', resolve))
    assert.is(code, CLOSE_PROTOCOL)
  }
  await page.getByRole('button', { name: 'Continue here' }).click()
  await reaches('live')
  await context.close()
})

links.run()
