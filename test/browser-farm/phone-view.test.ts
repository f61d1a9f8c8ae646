import type { BrowserContext, CDPSession } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { PHONE } from '../support/visitor.ts'
import { type Visit, visitOwnSite } from './visit.ts'

const phone = suite('a phone: what is in sight')

const FIELD_TOP = 600
/** How far a button of the page scrolls it, after a while. */
const SCROLLED = 300
const pages = () => ({
  '/': `<body style="margin:0;height:1500px"><style>input, button { position: absolute; height: 30px }</style>
<input style="left:20px;top:${FIELD_TOP}px;width:200px"><button style="left:330px;top:20px;width:40px">Far</button>
<button style="left:20px;top:20px;width:60px" onmousedown="event.preventDefault()" onclick="setTimeout(() => window.scrollTo(0, ${SCROLLED}), 500)">Down</button>
<script>
addEventListener('scroll', () => tell('scroll:' + scrollY))
addEventListener('focusin', ({ target }) => tell('focus:' + target.tagName))
for (const type of ['touchend', 'touchcancel', 'click'])
  addEventListener(type, ({ changedTouches, clientX, clientY }) => tell([type, Math.round(changedTouches?.[0].clientX ?? clientX), Math.round(changedTouches?.[0].clientY ?? clientY)]))
addEventListener('resize', () => tell('size:' + innerWidth + 'x' + innerHeight))
</script>`,
})

let visit: Visit
let site: Visit['site']
let page: Visit['page']
let hosted: Visit['hosted']
let devtools: CDPSession
/** What the page was told of the remote focus. */
const focuses: unknown[] = []
const hear = ({ payload }: { payload: string | Buffer }): void => {
  if (typeof payload === 'string' && payload.startsWith('{"type":"focus"')) focuses.push(payload)
}
phone.before(async () => {
  const prepare = async (context: BrowserContext) =>
    context.on('page', (opened) => opened.on('websocket', (socket) => socket.on('framereceived', hear)))
  visit = await visitOwnSite({ pages, browser: PHONE, prepare })
  ;({ site, page, hosted } = visit)
  devtools = await page.context().newCDPSession(page)
})
phone.after(() => visit?.stop())

const box = async () => {
  const found = await hosted.screen.boundingBox()
  if (!found) throw new Error('the screen is not there')
  return found
}
const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { x: number; y: number }[]) =>
  devtools.send('Input.dispatchTouchEvent', { type, touchPoints })
const told = (what: RegExp) => site.told.filter((each) => what.test(each))

/** What of the remote screen (its CSS pixels) lies under a point of the page. */
const under = async ({ x, y }: { x: number; y: number }) => {
  const around = await box()
  const scale = around.width / Number(await hosted.screen.getAttribute('data-remote-width'))
  return { x: (x - around.x) / scale, y: (y - around.y) / scale }
}
const isNear = (one: { x: number; y: number }, other: { x: number; y: number }): boolean =>
  Math.abs(one.x - other.x) <= 1 && Math.abs(one.y - other.y) <= 1
const drag = async (from: { x: number; y: number }, by: { x: number; y: number }) => {
  await touch('touchStart', from)
  for (const part of [1 / 3, 2 / 3, 1]) await touch('touchMove', { x: from.x + by.x * part, y: from.y + by.y * part })
  await touch('touchEnd')
}

phone('two fingers zoom the picture where they are, one moves it then; the remote page hears of no tap', async () => {
  const { width } = await box()
  const between = { x: 200, y: 300 }
  const before = await under(between)
  await touch('touchStart', { x: 150, y: 300 }, { x: 250, y: 300 })
  for (const by of [20, 40, 60]) await touch('touchMove', { x: 150 - by, y: 300 }, { x: 250 + by, y: 300 })
  await touch('touchEnd')
  const zoomed = await until('the picture to be larger', async () => {
    const now = await box()
    return now.width > width * 2 ? now : null
  })
  const after = await under(between)
  assert.ok(isNear(after, before), `what lay under the fingers stays there: ${JSON.stringify({ before, after })}`)
  await drag(between, { x: -60, y: 0 })
  await until('the picture to move', async () => Math.abs((await box()).x - (zoomed.x - 60)) <= 1)
  assert.equal(told(/^(click|touchend)/), [])
})

phone('each corner of the zoomed picture can be brought in sight, and none comes away from its own', async () => {
  const stage = await page.locator('.stage').boundingBox()
  if (!stage) throw new Error('the stage is not there')
  for (const by of [300, 300, 300, 300]) await drag({ x: 50, y: 200 }, { x: by, y: by })
  const first = await box()
  assert.ok(isNear(first, stage), `the first corner: ${JSON.stringify({ first, stage })}`)
  for (const by of [-300, -300, -300, -300]) await drag({ x: 350, y: 500 }, { x: by, y: by })
  const { x, y, width, height } = await box()
  const last = { x: x + width, y: y + height }
  assert.ok(
    isNear(last, { x: stage.x + stage.width, y: stage.y + stage.height }),
    `the last corner: ${JSON.stringify({ last, stage })}`,
  )
})

phone('the zoomed picture stays where the visitor has it when the window changes its size', async () => {
  await drag({ x: 200, y: 300 }, { x: 100, y: 150 })
  const before = await under({ x: 200, y: 300 })
  await page.setViewportSize({ width: 390, height: 700 })
  await until('the stage to be lower', async () => ((await page.locator('.stage').boundingBox())?.height ?? 0) < 600)
  await page.setViewportSize({ width: 390, height: 844 })
  await until('the whole stage', async () => ((await page.locator('.stage').boundingBox())?.height ?? 0) > 600)
  const after = await under({ x: 200, y: 300 })
  assert.ok(isNear(after, before), JSON.stringify({ before, after }))
})

phone('a tap on the zoomed picture lands where it looks, and two fingers bring the whole picture back', async () => {
  const point = { x: 200, y: 300 }
  const wanted = await under(point)
  await touch('touchStart', point)
  await touch('touchEnd')
  await until('the tap', () =>
    told(/^click/).some((each) => {
      const [, x, y] = each.split(',').map(Number)
      return isNear({ x: x ?? 0, y: y ?? 0 }, wanted)
    }),
  )
  await touch('touchStart', { x: 50, y: 300 }, { x: 350, y: 300 })
  for (const by of [50, 100, 140]) await touch('touchMove', { x: 50 + by, y: 300 }, { x: 350 - by, y: 300 })
  await touch('touchEnd')
  await until('the whole picture', async () => (await box()).width === 390)
})

/** What a keyboard takes: of the window itself, as Android's Chrome does where it is asked to, or only of what is seen of it, as Safari does. */
const coverWindow = (height: number) =>
  page.evaluate((seen) => {
    Object.defineProperty(visualViewport, 'height', { value: seen, configurable: true })
    visualViewport?.dispatchEvent(new Event('resize'))
  }, height)
const KEYBOARDS: Record<string, (height: number) => Promise<unknown>> = {
  'makes the window lower': (height) => page.setViewportSize({ width: 390, height }),
  'covers the window': coverWindow,
}

async function keepsFieldInSight(show: (height: number) => Promise<unknown>): Promise<void> {
  await hosted.screen.tap({ position: { x: 60, y: FIELD_TOP + 15 } })
  await page.locator('[data-editable="true"]').waitFor()
  await page.getByLabel('Text to type').focus()
  site.told.length = 0
  await show(460)
  const stage = page.locator('.stage')
  await until('the field to be in sight', async () => {
    const around = await stage.boundingBox()
    const { y, width } = await box()
    const middle = y + ((FIELD_TOP + 15) * width) / 390
    return around && around.height < 400 && middle > around.y && middle < around.y + around.height
  })
  assert.is(await hosted.screen.getAttribute('data-remote-width'), '390')
  await show(844)
  await until('the whole picture', async () => (await box()).y >= ((await stage.boundingBox())?.y ?? 0))
  assert.equal(told(/^size/), [], 'the remote page knows nothing of the keyboard')
}

for (const [what, show] of Object.entries(KEYBOARDS)) {
  phone(`a keyboard that ${what} leaves the remote screen as it is, and the field with the focus in sight`, () =>
    keepsFieldInSight(show),
  )
}

/** Where a part of the remote screen lies on the page. */
const shownAt = async ({ x, y, width, height }: { x: number; y: number; width: number; height: number }) => {
  const around = await box()
  const scale = around.width / 390
  return { x: around.x + x * scale, y: around.y + y * scale, width: width * scale, height: height * scale }
}
const isInSight = async (part: Parameters<typeof shownAt>[0]) => {
  const { x, y, width, height } = await shownAt(part)
  const around = await page.locator('.stage').boundingBox()
  return (
    around &&
    x >= around.x &&
    y >= around.y &&
    x + width <= around.x + around.width &&
    y + height <= around.y + around.height
  )
}

phone('a zoomed picture that is moved away from the field with the focus stays where the finger has it', async () => {
  await hosted.screen.tap({ position: { x: 60, y: FIELD_TOP + 15 } })
  await page.locator('[data-editable="true"]').waitFor()
  await touch('touchStart', { x: 175, y: 600 }, { x: 225, y: 600 })
  for (const by of [10, 20, 30]) await touch('touchMove', { x: 175 - by, y: 600 }, { x: 225 + by, y: 600 })
  await touch('touchEnd')
  const before = await box()
  const looks = focuses.length
  await touch('touchStart', { x: 200, y: 300 })
  for (const by of [100, 200, 300]) await touch('touchMove', { x: 200, y: 300 + by })
  await until('the focus to be told again, since the remote page has heard of the finger', () => focuses.length > looks)
  const { y } = await box()
  await touch('touchEnd')
  assert.ok(Math.abs(y - before.y - 300) <= 1, JSON.stringify({ before: before.y, y }))
})

phone('what gets the focus by Next field is brought in sight while the picture is zoomed, a button too', async () => {
  await page.getByRole('button', { name: 'Next field' }).tap()
  await until('the button to have the focus', () => site.told.includes('focus:BUTTON'))
  await until('it to be in sight', () => isInSight({ x: 330, y: 20, width: 40, height: 30 }))
  await page.getByRole('button', { name: 'Previous field' }).tap()
  await until('the field to be in sight, all of it', () => isInSight({ x: 20, y: FIELD_TOP, width: 150, height: 30 }))
  await touch('touchStart', { x: 50, y: 300 }, { x: 350, y: 300 })
  for (const by of [50, 100, 140]) await touch('touchMove', { x: 50 + by, y: 300 }, { x: 350 - by, y: 300 })
  await touch('touchEnd')
  await until('the whole picture', async () => (await box()).width === 390)
})

phone('a keyboard leaves the field in sight where the remote page has scrolled by itself', async () => {
  await hosted.screen.tap({ position: { x: 50, y: 35 } })
  await until('the page to scroll', () => site.told.includes(`scroll:${SCROLLED}`))
  await page.getByLabel('Text to type').focus()
  await coverWindow(460)
  await until('the stage to be lower', async () => ((await page.locator('.stage').boundingBox())?.height ?? 0) < 400)
  await until('the field to be in sight', () => isInSight({ x: 20, y: FIELD_TOP - SCROLLED, width: 200, height: 30 }))
  await coverWindow(844)
})

phone.run()
