import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { openVisitorBrowser, PHONE } from '../../support/visitor.ts'

let world: HttpWorld
test.before(async () => {
  world = await startHttpWorld()
})
test.after(async () => {
  await world?.stop()
})

test('on a phone the two ways to go on lie beside or below each other', async () => {
  const browser = await openVisitorBrowser()
  try {
    const page = await browser.newPage(PHONE)
    await page.goto(`${world.url}/`)
    const [documentation, portal] = await Promise.all(
      ['Documentation', 'Developer portal'].map((name) => page.getByRole('link', { name }).boundingBox()),
    )
    assert.ok(documentation && portal)
    const isApart =
      documentation.y + documentation.height <= portal.y || documentation.x + documentation.width <= portal.x
    assert.ok(isApart, JSON.stringify({ documentation, portal }))
  } finally {
    await browser.close()
  }
})

test.run()
