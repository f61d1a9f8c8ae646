import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { PHONE } from '../support/visitor.ts'
import { type Visit, visitOwnSite } from './visit.ts'

const phone = suite('a phone: the typing bar, and a screen that follows')

const at = (top: number) => `style="position:absolute;left:20px;top:${top}px;width:200px;height:30px"`
const pages = () => ({
  '/': `<body style="margin:0">
<input id="name" value="hello" ${at(20)}>
<input id="code" inputmode="numeric" autocomplete="one-time-code" enterkeyhint="done" ${at(70)}>
<input id="secret" type="password" value="hidden" ${at(120)}>
<script>addEventListener('input', ({ target, data, inputType }) => tell(target.id + ':' + target.value + ':' + inputType + ':' + data))
addEventListener('resize', () => tell('size:' + innerWidth + 'x' + innerHeight))</script>`,
})

let visit: Visit
let site: Visit['site']
let page: Visit['page']
let hosted: Visit['hosted']
phone.before(async () => {
  visit = await visitOwnSite({ pages, browser: PHONE })
  ;({ site, page, hosted } = visit)
})
phone.after(() => visit?.stop())

const tells = (what: string) => visit.tells(what)
const bar = () => page.getByLabel('Text to type')
const holds = (value: string) => until(`the bar to hold ${value}`, async () => (await bar().inputValue()) === value)

phone('the bar shows what the field holds, and only what changes is typed', async () => {
  await hosted.screen.tap({ position: { x: 60, y: 35 } })
  await holds('hello')
  await bar().fill('hello world')
  await tells('name:hello world:insertText: world')
  await bar().fill('hell world')
  await until('a deletion', () => site.told.some((what) => what.startsWith('name:hell world:delete')))
})

phone('the next field brings its own keyboard, and the one before comes back with what it holds', async () => {
  await page.getByRole('button', { name: 'Next field' }).click()
  await until('the keyboard of a code', async () => (await bar().getAttribute('autocomplete')) === 'one-time-code')
  assert.is(await bar().getAttribute('inputmode'), 'numeric')
  assert.is(await bar().getAttribute('enterkeyhint'), 'done')
  await bar().fill('123456')
  await tells('code:123456:insertText:123456')
  await page.getByRole('button', { name: 'Previous field' }).click()
  await holds('hell world')
})

phone('what is typed before the field is known belongs to it; what it hides is hidden', async () => {
  await hosted.screen.tap({ position: { x: 60, y: 135 } })
  await until('a hidden field', async () => (await bar().getAttribute('type')) === 'password')
  await holds('hidden')
  await bar().fill('')
  await until('it to be empty', () => site.told.some((what) => what.startsWith('secret::delete')))
})

phone('a composition is sent when it is done, as its final text', async () => {
  await hosted.screen.tap({ position: { x: 60, y: 85 } })
  await holds('123456')
  await bar().press('End')
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('Input.imeSetComposition', { text: 'te', selectionStart: 2, selectionEnd: 2 })
  await devtools.send('Input.imeSetComposition', { text: 'text', selectionStart: 4, selectionEnd: 4 })
  await devtools.send('Input.insertText', { text: 'texts' })
  await tells('code:123456texts:insertText:texts')
  assert.not.ok(site.told.some((what) => what.startsWith('code:123456te:')))
})

phone('dictation and corrections in a burst leave their final text, and nothing twice', async () => {
  await hosted.screen.tap({ position: { x: 60, y: 35 } })
  await holds('hell world')
  await bar().fill('')
  await until('it to be empty', () => site.told.some((what) => what.startsWith('name::delete')))
  site.told.length = 0
  const devtools = await page.context().newCDPSession(page)
  // Android: words are composed anew as they are understood; a correction composes again what was there.
  await devtools.send('Input.insertText', { text: 'I ' })
  await devtools.send('Input.imeSetComposition', { text: 'scream', selectionStart: 6, selectionEnd: 6 })
  await devtools.send('Input.imeSetComposition', { text: 'scream for', selectionStart: 10, selectionEnd: 10 })
  await devtools.send('Input.insertText', { text: 'scream for teh ' })
  const correction = { text: 'the', selectionStart: 3, selectionEnd: 3, replacementStart: 13, replacementEnd: 16 }
  await devtools.send('Input.imeSetComposition', correction)
  await devtools.send('Input.insertText', { text: 'the' })
  // iOS: what was typed is replaced at once, without a composition.
  await bar().evaluate((input) => {
    const field = input as HTMLInputElement
    for (const [from, to] of [
      ['scream', 'dream'],
      ['I dream', 'We dream'],
      ['the', 'the sea'],
    ] as const) {
      const start = field.value.indexOf(from)
      field.setRangeText(to, start, start + from.length, 'end')
      field.dispatchEvent(new InputEvent('input', { inputType: 'insertReplacementText', data: to, bubbles: true }))
    }
  })
  await until('the final text', () => site.told.some((what) => what.startsWith('name:We dream for the sea')))
  const final = await bar().inputValue()
  assert.is(final.trimEnd(), 'We dream for the sea')
  const values = site.told.filter((what) => what.startsWith('name:')).map((what) => what.split(':')[1])
  assert.is(values.at(-1), final)
  assert.not.ok(values.includes('I scream'), 'an unfinished composition was sent')
  await holds(final)
})

phone('a phone that is turned has a remote screen that is turned', async () => {
  await page.setViewportSize({ width: 844, height: 390 })
  await until(
    'the remote screen to follow',
    async () => (await hosted.screen.getAttribute('data-remote-width')) === '844',
  )
  await until('the page to know', () => site.told.some((what) => what.startsWith('size:844x')))
  await page.setViewportSize({ width: 390, height: 844 })
  await until('the screen to be upright', async () => (await hosted.screen.getAttribute('data-remote-width')) === '390')
})

phone.run()
