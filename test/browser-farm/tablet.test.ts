import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { type Visit, visitOwnSite } from './visit.ts'

const tablet = suite('a tablet')

const TABLET = { viewport: { width: 1024, height: 768 }, deviceScaleFactor: 1, isMobile: true, hasTouch: true }
const FIELD = { x: 20, y: 500, width: 200, height: 30 }
const pages = () => ({
  '/': `<input style="position:absolute;left:${FIELD.x}px;top:${FIELD.y}px;width:${FIELD.width}px;height:${FIELD.height}px;box-sizing:border-box" oninput="tell(value)">
<script>addEventListener('resize', () => tell('size:' + innerWidth + 'x' + innerHeight))</script>`,
})

let visit: Visit
tablet.before(async () => {
  visit = await visitOwnSite({ pages, browser: TABLET })
})
tablet.after(() => visit?.stop())

tablet('has no keys, and types into the remote field as a phone does', async () => {
  const { hosted, page, tells } = visit
  await hosted.screen.tap({ position: { x: FIELD.x + 40, y: FIELD.y + 15 } })
  await page.locator('[data-editable="true"]').waitFor()
  await page.getByLabel('Text to type').fill('ada')
  await tells('ada')
})

tablet('keeps its screen while a keyboard is open, and the field in sight', async () => {
  const { hosted, page, site } = visit
  site.told.length = 0
  await page.setViewportSize({ width: 1024, height: 400 })
  await until('the field to be in sight of a lower stage', async () => {
    const around = await page.locator('.stage').boundingBox()
    const picture = await hosted.screen.boundingBox()
    if (!around || !picture || around.height >= 400) return false
    const top = picture.y + FIELD.y
    return top >= around.y && top + FIELD.height <= around.y + around.height
  })
  await page.setViewportSize(TABLET.viewport)
  await until('the whole picture', async () => ((await hosted.screen.boundingBox())?.height ?? 0) > 400)
  assert.equal(site.told, [], 'the remote page knows nothing of the keyboard')
})

tablet.run()
