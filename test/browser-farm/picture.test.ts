import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { SECOND, systemClock } from '../../core/clock.ts'
import { until } from '../support/until.ts'
import { hostedPage, openVisitorBrowser } from '../support/visitor.ts'
import { hearFrames } from './hear-frames.ts'
import { type OwnSite, startOwnSite } from './own-site.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const picture = suite('what the picture costs')
const clock = systemClock()

const pages = () => ({ '/': '<h1>Sign in</h1><label>E-mail <input autofocus style="font-size:24px"></label>' })

let site: OwnSite
let world: FarmWorld
let browser: Browser
picture.before(async () => {
  site = await startOwnSite({ pages })
  world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '1' } })
  await world.farm()
  browser = await openVisitorBrowser()
})
picture.after(async () => {
  await browser?.close()
  await world?.stop()
  await site?.stop()
})

picture(
  'a form at rest is sent once more in full quality, and then nothing, though a field has the focus',
  async () => {
    const page = await browser.newPage()
    const frames: number[] = []
    hearFrames(page, ({ byteLength }) => frames.push(byteLength))
    await page.goto(world.link({ userRef: 'rest' }))
    await hostedPage(page).reaches('live')
    // Long enough for several blinks of a caret.
    const rest = 3 * SECOND
    await until('a picture that is at rest', async () => {
      const before = frames.length
      await clock.sleep(rest)
      return before > 1 && frames.length === before
    })
    const [before = 0, last = 0] = frames.slice(-2)
    assert.ok(last > before, `${last} bytes after ${before}`)
    await page.close()
  },
)

picture.run()
