import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { type Visit, visitOwnSite } from './visit.ts'

const widgets = suite('what a browser draws over a page')

const at = (left: number, top: number) =>
  `style="position:absolute;left:${left}px;top:${top}px;width:160px;height:30px"`
const YEARS = Array.from({ length: 60 }, (_, index) => `<option>${1960 + index}</option>`).join('')
const pages = () => ({
  '/': `<body style="margin:0">
<select id="one" aria-label="Country" ${at(20, 20)}><option value="a">Austria</option><option value="b" disabled>Belgium</option>
<optgroup label="Far"><option value="c">Chile</option></optgroup></select>
<select id="many" multiple size="1" aria-label="Colours" ${at(220, 20)}><option>Red</option><option>Green</option><option>Blue</option></select>
<input id="day" type="date" aria-label="Birthday" min="2000-01-01" ${at(20, 120)}>
<input id="paint" type="color" aria-label="Paint" ${at(220, 120)}>
<input id="town" list="towns" aria-label="Town" ${at(20, 220)}><datalist id="towns"><option>Graz</option><option>Linz</option></datalist>
<input id="hour" type="time" aria-label="Hour" ${at(220, 220)}>
<select id="high" aria-label="Year" ${at(420, 20)}>${YEARS}</select>
<select id="low" aria-label="Month" ${at(620, 400)}>${YEARS}</select>
<select id="moves" aria-label="Ending" style="position:absolute;right:20px;top:520px;width:160px;height:30px"><option>Com</option><option>Net</option></select>
<script>
for (const type of ['input', 'change'])
  addEventListener(type, ({ target }) => tell([type, target.id, [...(target.selectedOptions ?? [])].map((each) => each.text).join('+') || target.value]))
globalThis.tellFarm?.('{"type":"picker","picker":null}')
tell(['world', typeof globalThis.tellFarm, typeof globalThis.farmTools])
</script>`,
})

let visit: Visit
let page: Visit['page']
let hosted: Visit['hosted']
widgets.before(async () => {
  visit = await visitOwnSite({ pages })
  ;({ page, hosted } = visit)
})
widgets.after(() => visit?.stop())

const tells = (what: string) => visit.tells(what)

async function clickAt(x: number, y: number): Promise<void> {
  const { width, remote } = await hosted.screen.evaluate((canvas) => ({
    width: canvas.getBoundingClientRect().width,
    remote: Number((canvas as HTMLElement).dataset['remoteWidth']),
  }))
  await hosted.screen.click({ position: { x: (x * width) / remote, y: (y * width) / remote } })
}

widgets(
  'the list of a select is offered with its groups and what cannot be chosen; an entry is chosen by mouse',
  async () => {
    await clickAt(100, 35)
    const list = page.getByRole('listbox', { name: 'Country' })
    await list.waitFor()
    assert.equal(await list.getByRole('option').allTextContents(), ['Austria', 'Belgium', 'Chile'])
    assert.is(await list.getByRole('option', { name: 'Belgium' }).getAttribute('aria-disabled'), 'true')
    await list.getByRole('group', { name: 'Far' }).getByRole('option', { name: 'Chile' }).click()
    await tells('input,one,Chile')
    await tells('change,one,Chile')
    assert.is(await list.count(), 0)
  },
)

widgets('by keyboard an entry is found by its first letter, Escape leaves the list as it was', async () => {
  await hosted.press('Space')
  const list = page.getByRole('listbox', { name: 'Country' })
  await list.waitFor()
  await page.keyboard.press('Escape')
  await until('the list to be gone', async () => (await list.count()) === 0)
  assert.ok(
    await hosted.screen.evaluate((canvas) => document.activeElement === canvas),
    'the screen has the focus again',
  )
  await hosted.press('Space')
  await list.waitFor()
  await page.keyboard.type('au')
  await page.keyboard.press('Enter')
  await tells('change,one,Austria')
})

widgets('several entries are chosen one after the other', async () => {
  await clickAt(300, 35)
  const list = page.getByRole('listbox', { name: 'Colours' })
  await list.getByRole('option', { name: 'Red' }).click()
  await list.getByRole('option', { name: 'Blue' }).click()
  await tells('change,many,Red+Blue')
  await page.getByRole('button', { name: 'Done' }).click()
  assert.is(await list.count(), 0)
})

widgets('a date, a time and a colour are picked', async () => {
  for (const [x, y, label, value, told] of [
    [100, 135, 'Birthday', '2001-02-03', 'change,day,2001-02-03'],
    [300, 135, 'Paint', '#12ab34', 'change,paint,#12ab34'],
    [300, 235, 'Hour', '12:34', 'change,hour,12:34'],
  ] as const) {
    await clickAt(x, y)
    const form = page.getByRole('group', { name: label })
    await form.locator('input').fill(value)
    await form.getByRole('button', { name: 'OK' }).click()
    await tells(told)
  }
})

widgets('suggestions stand beside typing, are narrowed by it and taken with the arrow', async () => {
  await clickAt(100, 235)
  const list = page.getByRole('listbox', { name: 'Town' })
  await list.waitFor()
  await page.keyboard.type('l')
  await until('fewer', async () => (await list.getByRole('option').allTextContents()).join() === 'Linz')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await tells('input,town,Linz')
})

widgets('a long list stands under its field, or over it where there is more room, and never on it', async () => {
  const boxOf = async (locator: typeof hosted.screen) => (await locator.boundingBox()) ?? { x: 0, y: 0, height: 0 }
  const screen = await boxOf(hosted.screen)
  const stage = await boxOf(page.locator('.stage'))
  await clickAt(500, 35)
  const panel = page.locator('.picker', { has: page.getByRole('listbox', { name: 'Year' }) })
  await panel.waitFor()
  const under = await boxOf(panel)
  assert.ok(under.y >= screen.y + 50 - 1, `begins at ${under.y}`)
  assert.ok(under.y + under.height <= stage.y + stage.height, 'ends on the stage')
  await page.keyboard.press('Escape')
  await clickAt(700, 415)
  const other = page.locator('.picker', { has: page.getByRole('listbox', { name: 'Month' }) })
  await other.waitFor()
  const over = await boxOf(other)
  assert.ok(over.y + over.height <= screen.y + 400 + 1 && over.y >= stage.y, `ends at ${over.y + over.height}`)
  await page.keyboard.press('Escape')
})

widgets('a page knows nothing of the world that watches it', async () => {
  await tells('world,undefined,undefined')
})

widgets('a list stays open at its field where the window changes its size', async () => {
  const remoteWidth = async () => Number(await hosted.screen.getAttribute('data-remote-width'))
  /** How far the list is from its field, which keeps its distance from the right edge of the page. */
  const off = async (): Promise<number> => {
    const [screen, drawn] = [await hosted.screen.boundingBox(), await page.locator('.picker').boundingBox()]
    if (!screen || !drawn) throw new Error('the list has gone')
    return Math.abs(drawn.x - (screen.x + screen.width * (1 - 180 / (await remoteWidth()))))
  }
  const before = await remoteWidth()
  await clickAt(before - 100, 535)
  const list = page.getByRole('listbox', { name: 'Ending' })
  await list.waitFor()
  assert.ok((await off()) <= 2)
  const { width, height } = page.viewportSize() ?? { width: 1_280, height: 720 }
  for (const next of [width - 100, width]) {
    await page.setViewportSize({ width: next, height })
    await until('the screen to follow', async () => (await remoteWidth()) === before + next - width)
    await until('the list to follow', async () => (await off()) <= 2)
  }
  await list.getByRole('option', { name: 'Net' }).click()
  await tells('change,moves,Net')
})

widgets.run()
