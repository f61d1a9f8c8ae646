import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { releaseLeases } from '../../schemas/lease/lease-ends.ts'
import { CLOSE_MOVED } from '../../wire/stream-constants.ts'
import { until } from '../support/until.ts'
import { hostedPage, openVisitorBrowser } from '../support/visitor.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const words = suite('what the hosted page says')

let world: FarmWorld
let browser: Browser
words.before(async () => {
  world = await startFarmWorld()
  browser = await openVisitorBrowser()
})
words.after(async () => {
  await browser?.close()
  await world?.stop()
})

const REDIRECT = 'https://shop.example/back'

words('each reason to wait has its own title, the end leaves nothing behind and leads back to the app', async () => {
  const context = await browser.newContext({ reducedMotion: 'reduce', viewport: { width: 390, height: 844 } })
  const page = await context.newPage()
  const link = world.link({ userRef: 'waiting', redirectUrl: REDIRECT })
  await page.goto(link)
  const title = page.locator('[data-cover-title]')
  const titled = (wanted: string) => until(`the title ${wanted}`, async () => (await title.textContent()) === wanted)
  // There is no farm: the flow waits for room.
  await titled('One moment…')
  assert.match(String(await page.locator('[data-cover-text]').textContent()), 'Sandbox Assistant')
  await titled('All browsers are busy')
  assert.equal(await page.evaluate(() => document.getAnimations().length), 0, 'whoever wants no motion sees none')
  await world.farm()
  const hosted = hostedPage(page)
  await hosted.reaches('live')
  const second = await context.newPage()
  await second.goto(link)
  await hostedPage(second).reaches('live')
  await titled('Open elsewhere')
  assert.is(await page.locator('.sign').isVisible(), false, 'nothing turns while the page waits for a choice')
  assert.is(await page.getByRole('status').first().textContent(), 'Open elsewhere', 'nor is it only a moment')
  await second.close()
  await page.getByRole('button', { name: 'Continue here' }).click()
  await hosted.reaches('live')
  await page.getByLabel('Text to type').fill('not sent yet')
  await releaseLeases({ filter: { userRef: 'waiting' }, now: new Date() })
  await hosted.reaches('failed')
  await titled('Not connected')
  assert.is(await hosted.screen.isVisible(), false)
  assert.equal(await hosted.screen.evaluate((canvas: HTMLCanvasElement) => [canvas.width, canvas.height]), [1, 1])
  assert.is(
    await page
      .getByLabel('Text to type')
      .inputValue()
      .catch(() => ''),
    '',
  )
  const back = page.getByRole('link', { name: 'Return to Acme Notes' })
  assert.is(await back.getAttribute('href'), REDIRECT)
  await context.close()
})

words('a page whose cookie is gone says what to do, and does not try for ever', async () => {
  const context = await browser.newContext()
  const page = await context.newPage()
  let breakOff = async (): Promise<void> => undefined
  await page.routeWebSocket(/\/start\/stream/, (socket) => {
    const upstream = socket.connectToServer()
    breakOff = async () => {
      await upstream.close()
      await socket.close({ code: CLOSE_MOVED })
    }
  })
  await page.goto(world.link({ userRef: 'no-cookie' }))
  const hosted = hostedPage(page)
  await hosted.reaches('live')
  await context.clearCookies()
  await breakOff()
  await hosted.reaches('failed')
  assert.match(String(await page.getByRole('alert').textContent()), 'This page opens from a link of the app')
  await context.close()
})

words.run()
