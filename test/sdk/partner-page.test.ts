import type { Browser, Page } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { openVisitorBrowser, PHONE } from '../support/visitor.ts'
import { type Partner, startPartner } from './support/partner.ts'
import { type FakeService, startService } from './support/service.ts'
import { eventBody, post } from './support/webhook.ts'

type Context = { browser: Browser; service: FakeService; partner: Partner; problems: string[] }

const page = suite<Context>("the example partner's page")

page.before(async (context) => {
  context.browser = await openVisitorBrowser()
})
page.after(async ({ browser }) => browser.close())

page.before.each(async (context) => {
  context.service = await startService()
  context.partner = await startPartner(context.service.url)
  context.problems = []
})
page.after.each(async ({ service, partner }) => {
  await partner.end()
  await service.stop()
})

async function visit({ browser, partner, problems }: Context, options = {}): Promise<Page> {
  const visitor = await browser.newPage(options)
  visitor.on('pageerror', (error) => problems.push(error.message))
  visitor.on('console', (message) => {
    // The page that stands for the service has no icon, which a browser may ask for.
    const own = message.location().url.startsWith(partner.url)
    if (own && message.type() === 'error') problems.push(message.text())
  })
  await visitor.goto(partner.url)
  return visitor
}

async function leave(visitor: Page, { problems }: Context) {
  await visitor.close()
  assert.equal(problems, [])
}

page('reads a conversation as the provider wrote it, and all pages of the list', async (context) => {
  const visitor = await visit(context)
  const items = visitor.locator('#conversations li')
  await visitor.getByRole('button', { name: 'Show more' }).click()
  await items.nth(29).waitFor()
  assert.is(await items.count(), 30)
  await items.first().getByRole('button').click()
  const bubbles = visitor.locator('.message')
  assert.is(await bubbles.count(), 3)
  assert.match((await bubbles.nth(0).textContent()) ?? '', 'where should we go?')
  assert.is(await visitor.locator('article h3').textContent(), 'A trip to the lakes <b>in May</b>')
  await leave(visitor, context)
})

page('shows an event the moment it comes, and its delivery once', async (context) => {
  const visitor = await visit(context)
  await visitor.locator('#events .empty').waitFor()
  for (const id of ['d-1', 'd-2', 'd-1']) await post(`${context.partner.url}/webhooks`, eventBody(id))
  await visitor.locator('[data-delivery="d-1"]', { hasText: 'came 2 times' }).waitFor()
  const shown = visitor.locator('#events li')
  assert.is(await shown.count(), 2)
  assert.is(await shown.first().getAttribute('data-delivery'), 'd-2')
  await leave(visitor, context)
})

page('disconnects only when the user confirms', async (context) => {
  const visitor = await visit(context)
  const card = visitor.locator('[data-connection][data-status="active"]')
  await card.getByRole('button', { name: 'Disconnect' }).click()
  await visitor.getByRole('button', { name: 'Cancel' }).click()
  await card.getByRole('button', { name: 'Disconnect' }).click()
  assert.is(context.service.requests.filter(({ path }) => path === '/api/purge').length, 0)
  await visitor.getByRole('button', { name: 'Delete', exact: true }).click()
  await visitor.locator('[data-connection][data-status="revoked"]').first().waitFor()
  await visitor.getByText('Nothing to read here.').waitFor()
  await leave(visitor, context)
})

page('sends the chosen user through the button to the hosted page', async (context) => {
  const visitor = await visit(context)
  await visitor.getByLabel('User').fill('another user')
  const window = visitor.context().waitForEvent('page')
  await visitor.getByRole('button', { name: 'Connect', exact: true }).click()
  await (await window).waitForURL((url) => url.href.startsWith(`${context.service.url}/start?token=`))
  await leave(visitor, context)
})

page('fits a phone', async (context) => {
  const visitor = await visit(context, PHONE)
  await visitor.locator('#conversations li').first().waitFor()
  assert.is(await visitor.evaluate(() => document.documentElement.scrollWidth), PHONE.viewport.width)
  await leave(visitor, context)
})

page.run()
