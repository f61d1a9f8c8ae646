import type { Browser, Page } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Apps } from '../../../schemas/app/app.ts'
import { teamOf } from '../../../schemas/member/team.ts'
import { startReceiver } from '../../support/receiver.ts'
import { openVisitorBrowser } from '../../support/visitor.ts'
import { type PortalWorld, startPortalWorld } from './world.ts'

const keyboard = suite('the portal by keys alone, and over a slow network')
const APP = '/developers/apps/notes'
/** More stops than any page has before its first form. */
const MOST_STOPS = 60
let world: PortalWorld
let browser: Browser

keyboard.before(async () => {
  world = await startPortalWorld()
  await world.makeApp('notes')
  await world.join('notes', 'ada@example.test', 'owner')
  browser = await openVisitorBrowser()
})
keyboard.after(async () => {
  await browser.close()
  await world.stop()
})

async function signedIn(): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage()
  await page.goto(await world.link('ada@example.test'))
  await tabTo(page, 'Sign in')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  return page
}

/** Presses Tab until what has this name has the focus; each stop on the way has to be seen. */
async function tabTo(page: Page, name: string): Promise<void> {
  for (let stop = 0; stop < MOST_STOPS; stop += 1) {
    await page.keyboard.press('Tab')
    const focus = await page.evaluate(() => {
      const it = document.activeElement
      if (!it || it === document.body) return null
      const { outlineStyle, outlineWidth } = getComputedStyle(it)
      const { width, height } = it.getBoundingClientRect()
      const label = (it as HTMLInputElement).labels?.[0]?.textContent ?? it.textContent ?? ''
      return { label: label.trim(), seen: outlineStyle !== 'none' && outlineWidth !== '0px' && width * height > 0 }
    })
    if (!focus) continue
    assert.ok(focus.seen, `the focus on “${focus.label}” is seen`)
    if (focus.label === name) return
  }
  throw new Error(`Tab does not reach “${name}”`)
}

keyboard('a key is made, an endpoint set and somebody invited without a mouse', async () => {
  const receiver = await startReceiver()
  try {
    const page = await signedIn()
    await tabTo(page, 'Skip to content')
    await tabTo(page, 'API keys')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'API keys', level: 1 }).waitFor()
    await tabTo(page, 'Skip to content')
    await page.keyboard.press('Enter')
    await tabTo(page, 'Name')
    await page.keyboard.type('By keys')
    await tabTo(page, 'Create API key')
    await page.keyboard.press('Enter')
    await page.locator('[data-secret="apiKey"]').waitFor()
    assert.ok((await Apps.findById('notes').lean())?.apiKeys.some(({ name }) => name === 'By keys'))

    await page.goto(`${world.url}${APP}/webhooks`)
    await tabTo(page, 'Endpoint URL')
    await page.keyboard.type('not a url')
    await page.keyboard.press('Enter')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type('ftp://example.test')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').waitFor()
    // The page that refuses is at the field already, with what was typed.
    assert.is(await page.evaluate(() => (document.activeElement as HTMLInputElement).value), 'ftp://example.test')
    await page.keyboard.press('ControlOrMeta+a')
    await page.keyboard.type(receiver.url)
    await page.keyboard.press('Enter')
    await page.getByRole('status').getByText('answered a test event').waitFor()

    await page.goto(`${world.url}${APP}/team`)
    await tabTo(page, 'E-mail')
    await page.keyboard.type('invited@example.test')
    await tabTo(page, 'Role')
    await page.keyboard.press('o')
    await tabTo(page, 'Invite')
    await page.keyboard.press('Enter')
    await page.getByRole('status').waitFor()
    const { invitations } = await teamOf('notes')
    assert.equal(
      invitations.map(({ email, role }) => [email, role]),
      [['invited@example.test', 'owner']],
    )
    await tabTo(page, 'Sign out')
    await page.keyboard.press('Enter')
    await page.getByLabel('Work e-mail').waitFor()
    await page.context().close()
  } finally {
    await receiver.stop()
  }
})

keyboard('over a slow network a form that is clicked again and again is sent once', async () => {
  const page = await signedIn()
  await page.goto(`${world.url}${APP}/keys`)
  const session = await page.context().newCDPSession(page)
  await session.send('Network.enable')
  await session.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: 800,
    downloadThroughput: 50_000,
    uploadThroughput: 50_000,
  })
  await page.getByLabel('Name').fill('Impatient')
  const button = page.getByRole('button', { name: 'Create API key' })
  for (let click = 0; click < 4; click += 1) await button.click({ noWaitAfter: true })
  await page.locator('[data-secret="apiKey"]').waitFor()
  assert.is(await page.locator('[data-secret="apiKey"]').count(), 1)
  const named = (await Apps.findById('notes').lean())?.apiKeys.filter(({ name }) => name === 'Impatient')
  assert.is(named?.length, 1)
  await page.context().close()
})

keyboard.run()
