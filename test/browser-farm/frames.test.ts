import type { BrowserContextOptions, Locator } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { PHONE } from '../support/visitor.ts'
import { visitOwnSite } from './visit.ts'

/** A sign-in within a sign-in, as providers have it for codes and payments: its pages are other sites', and other processes'. */
const frames = suite('fields in frames of other sites')

const SCRIPT = `<script>
addEventListener('change', ({ target }) => tell([target.id, target.value]))
addEventListener('focusin', ({ target }) => tell('focus:' + target.id))
addEventListener('input', ({ target }) => tell(['typed', target.id, target.value]))
tell('open:' + location.pathname)
</script>`
const FIELD = 'style="position:absolute;left:20px;width:160px;height:30px;margin:0"'
const frame = (host: string, port: number, path: string) =>
  `<iframe src="http://${host}:${port}${path}" style="position:absolute;left:40px;top:100px;width:300px;height:260px;border:5px solid;padding:3px"></iframe>`

/** `127.0.0.1` and `localhost` are two sites. */
const pages = (port: number) => ({
  '/': `<body style="margin:0"><input id="outer" ${FIELD}>${frame('localhost', port, '/inner')}${SCRIPT}`,
  '/inner': `<body style="margin:0"><select id="country" aria-label="Country" ${FIELD}><option>Austria</option><option>Chile</option></select>
<input id="code" aria-label="Code" inputmode="numeric" autocomplete="one-time-code" value="12" style="position:absolute;left:20px;top:50px;width:160px;height:30px">
${frame('127.0.0.1', port, '/innermost')}${SCRIPT}`,
  '/innermost': `<body style="margin:0"><select id="town" aria-label="Town" ${FIELD}><option>Graz</option><option>Linz</option></select>${SCRIPT}`,
})
/** Where the fields lie on the login page: the frame's border and padding are 8 pixels. */
const COUNTRY = { x: 40 + 8 + 20, y: 100 + 8 }
const TOWN = { x: COUNTRY.x + 40 + 8, y: COUNTRY.y + 100 + 8 }
const CODE = { x: COUNTRY.x, y: COUNTRY.y + 50 }

const SCREENS: Record<string, BrowserContextOptions> = {
  'a desk': { viewport: { width: 1_280, height: 800 } },
  'a sharp desk': { viewport: { width: 1_280, height: 800 }, deviceScaleFactor: 2 },
  'a phone': PHONE,
}

async function boxOf(locator: Locator) {
  const box = await locator.boundingBox()
  if (!box) throw new Error('it is not to be seen')
  return box
}

for (const [name, browser] of Object.entries(SCREENS)) {
  frames(`a list is drawn at its field's place and chosen from: ${name}`, async () => {
    const visit = await visitOwnSite({ pages, allowedHosts: ['127.0.0.1', 'localhost'], browser })
    try {
      const { page, hosted, tells } = visit
      await tells('open:/innermost')
      const point = async ({ x, y }: { x: number; y: number }) => {
        const { width, ...at } = await boxOf(hosted.screen)
        const remote = await hosted.screen.evaluate((canvas) => Number((canvas as HTMLElement).dataset['remoteWidth']))
        return { x: at.x + (x * width) / remote, y: at.y + (y * width) / remote }
      }
      const press = async (place: { x: number; y: number }) => {
        const { x, y } = await point({ x: place.x + 60, y: place.y + 15 })
        await (browser.hasTouch ? page.touchscreen.tap(x, y) : page.mouse.click(x, y))
      }
      for (const [label, place, entry, told] of [
        ['Country', COUNTRY, 'Chile', 'country,Chile'],
        ['Town', TOWN, 'Linz', 'town,Linz'],
      ] as const) {
        await press(place)
        const list = page.getByRole('listbox', { name: label })
        await list.waitFor()
        const drawn = await boxOf(page.locator('.picker'))
        const field = await point({ x: place.x, y: place.y + 30 })
        assert.ok(Math.abs(drawn.x - field.x) <= 2, `${label} is drawn at ${drawn.x}, its field is at ${field.x}`)
        assert.ok(Math.abs(drawn.y - field.y) <= 2, `${label} is drawn at ${drawn.y}, its field ends at ${field.y}`)
        if (label === 'Country') await list.getByRole('option', { name: entry }).click()
        else {
          await page.keyboard.press('ArrowDown')
          await page.keyboard.press('Enter')
        }
        await tells(told)
        assert.is(await list.count(), 0)
      }
      await press(CODE)
      if (browser.isMobile) {
        const bar = page.getByRole('textbox', { name: 'Text to type' })
        await until('the typing bar to hold what the field holds', async () => (await bar.inputValue()) === '12')
        assert.is(await bar.getAttribute('inputmode'), 'numeric')
        assert.is(await bar.getAttribute('autocomplete'), 'one-time-code')
        await bar.fill('1234')
      } else {
        await tells('focus:code')
        await page.keyboard.press('End')
        await page.keyboard.type('34')
      }
      await tells('typed,code,1234')
      // The focus comes back to a page that has given it away.
      await press({ x: 20, y: 0 })
      if (browser.isMobile) {
        const bar = page.getByRole('textbox', { name: 'Text to type' })
        await until('the typing bar to be empty', async () => (await bar.inputValue()) === '')
        await bar.fill('out')
      } else {
        await tells('focus:outer')
        await page.keyboard.type('out')
      }
      await tells('typed,outer,out')
    } finally {
      await visit.stop()
    }
  })
}

/** What is pressed takes the focus late, as on a page that has something to do. */
const LATE = `<script>addEventListener('mousedown', () => { const end = performance.now() + 150; while (performance.now() < end); })</script>`
const latePages = (port: number) => ({
  '/': `<body style="margin:0"><input id="outer" ${FIELD}>${frame('localhost', port, '/inner')}${SCRIPT}${LATE}`,
  '/inner': `<body style="margin:0"><input id="code" ${FIELD}>${SCRIPT}${LATE}`,
})

frames('what is typed right after a click goes where the click went', async () => {
  const visit = await visitOwnSite({
    pages: latePages,
    allowedHosts: ['127.0.0.1', 'localhost'],
    browser: SCREENS['a desk'] ?? {},
  })
  try {
    const { page, hosted, tells } = visit
    await tells('open:/inner')
    const { x, y } = await boxOf(hosted.screen)
    const press = (at: { x: number; y: number }) => page.mouse.click(x + at.x + 60, y + at.y + 15)
    for (let round = 0; round < 3; round++) {
      await press(COUNTRY)
      await page.keyboard.type('i')
      await press({ x: 20, y: 0 })
      await page.keyboard.type('o')
    }
    await tells('typed,code,iii')
    await tells('typed,outer,ooo')
  } finally {
    await visit.stop()
  }
})

frames.run()
