import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { type Visit, visitOwnSite } from './visit.ts'

const keyboard = suite('keyboard, paste, composition, mouse and wheel on the canvas')

const pages = () => ({
  '/': `<body style="margin:0;height:4000px"><textarea autofocus style="width:400px;height:100px"></textarea><script>
const area = document.querySelector('textarea')
area.addEventListener('input', () => tell('text:' + area.value))
document.addEventListener('selectionchange', () => tell('selected:' + (area.selectionEnd - area.selectionStart)))
addEventListener('mousedown', ({ clientX, clientY, button, detail, shiftKey }) => tell(['mouse', clientX, clientY, button, detail, shiftKey]))
addEventListener('scroll', () => tell('scroll:' + Math.round(scrollY)))
addEventListener('keydown', ({ key, ctrlKey }) => tell('key:' + (ctrlKey ? 'ctrl+' : '') + key))
addEventListener('compositionupdate', ({ data }) => tell('composing:' + data))
addEventListener('keydown', ({ key }) => key === 'End' && open('/second'))
</script>`,
  '/second': `<script>addEventListener('keydown', ({ key }) => tell('second:' + key))</script>`,
})

let visit: Visit
let site: Visit['site']
let hosted: Visit['hosted']
keyboard.before(async () => {
  visit = await visitOwnSite({ pages, browser: { permissions: ['clipboard-read', 'clipboard-write'] } })
  ;({ site, hosted } = visit)
})
keyboard.after(() => visit?.stop())

const tells = (what: string) => visit.tells(what)

keyboard(
  'typed letters, capitals, signs, lines and special keys arrive as they are, in order, however fast',
  async () => {
    const text = 'Aa1!@ "quoted" \\ {braces} '.repeat(12)
    await hosted.type(text)
    await tells(`text:${text}`)
    await hosted.press('Enter')
    await tells(`text:${text}\n`)
    await hosted.press('Backspace')
    await hosted.press('ArrowLeft')
    await hosted.press('Delete')
    await tells(`text:${text.slice(0, -1)}`)
  },
)

keyboard('shortcuts work in the remote field, those of the clipboard do not reach it', async () => {
  await hosted.press('Control+a')
  await until('everything to be selected', () => site.told.some((what) => /^selected:[1-9]\d+$/.test(what)))
  await hosted.press('Control+c')
  await hosted.press('Control+x')
  await hosted.press('x')
  await tells('text:x')
  assert.not.ok(site.told.some((what) => what === 'key:ctrl+c' || what === 'key:ctrl+x'))
})

keyboard('what the visitor copied is pasted', async () => {
  await hosted.press('Control+a')
  await hosted.page.evaluate(() => navigator.clipboard.writeText('pasted ünïcode 漢字'))
  await hosted.press('Control+v')
  await tells('text:pasted ünïcode 漢字')
})

keyboard('what is selected is copied to the visitor own clipboard, and F6 leaves the screen', async () => {
  await hosted.press('Control+a')
  await until('the selection', () => site.told.some((what) => /^selected:[1-9]\d+$/.test(what)))
  await hosted.press('Control+c')
  await until(
    'the clipboard',
    async () => (await hosted.page.evaluate(() => navigator.clipboard.readText())) === 'pasted ünïcode 漢字',
  )
  await hosted.press('F6')
  assert.not.ok(await hosted.screen.evaluate((canvas) => document.activeElement === canvas))
})

keyboard('an input method composes in the remote field and enters its result', async () => {
  await hosted.press('Control+a')
  await hosted.screen.focus()
  const devtools = await hosted.page.context().newCDPSession(hosted.page)
  await devtools.send('Input.imeSetComposition', { text: 'に', selectionStart: 1, selectionEnd: 1 })
  await tells('composing:に')
  await devtools.send('Input.imeSetComposition', { text: 'にほ', selectionStart: 2, selectionEnd: 2 })
  await tells('composing:にほ')
  await devtools.send('Input.insertText', { text: '日本' })
  await tells('text:日本')
})

keyboard('text that comes without a key or a composition arrives', async () => {
  await hosted.press('Control+a')
  await hosted.page.keyboard.insertText('🙂 dictated')
  await tells('text:🙂 dictated')
})

keyboard('clicks land where they were made, with their count and modifiers; the wheel scrolls', async () => {
  const { screen } = hosted
  const { width, remote } = await screen.evaluate((canvas) => ({
    width: canvas.getBoundingClientRect().width,
    remote: Number((canvas as HTMLElement).dataset['remoteWidth']),
  }))
  const at = (x: number, y: number) => ({ position: { x: (x * width) / remote, y: (y * width) / remote } })
  await screen.click(at(300, 200))
  await tells('mouse,300,200,0,1,false')
  await screen.dblclick(at(310, 210))
  await tells('mouse,310,210,0,2,false')
  await screen.click({ ...at(320, 220), button: 'right', modifiers: ['Shift'] })
  await tells('mouse,320,220,2,1,true')
  await screen.click({ ...at(330, 230), button: 'middle' })
  await screen.hover(at(300, 300))
  await hosted.page.mouse.wheel(0, 250)
  await tells('scroll:250')
  assert.not.ok(
    site.told.some((what) => what.startsWith('mouse,330')),
    'the middle button pastes',
  )
})

keyboard(
  'F6 goes on to what follows the screen, Shift+F6 back to what is before it; the remote page hears of neither',
  async () => {
    const { page, screen } = hosted
    await hosted.press('End')
    const follows = page.getByRole('button', { name: 'Close this window' })
    const before = page.getByRole('button', { name: 'Cancel' })
    await follows.waitFor()
    const has = async (what: typeof follows) =>
      assert.ok(await what.evaluate((element) => document.activeElement === element), String(what))
    await hosted.press('F6')
    await has(follows)
    await page.keyboard.press('Shift+Tab')
    await has(screen)
    await page.keyboard.press('Shift+F6')
    await has(before)
    await page.keyboard.press('Tab')
    await has(screen)
    await page.keyboard.press('x')
    await tells('second:x')
    assert.not.ok(site.told.some((what) => /F6|Tab/.test(what)))
    await page.keyboard.press('F6')
    await page.keyboard.press('Enter')
    await until('the second window to be gone', () => follows.isHidden())
  },
)

keyboard('a window that is made smaller has a smaller remote screen, and clicks still land', async () => {
  await hosted.page.setViewportSize({ width: 800, height: 500 })
  const { screen } = hosted
  const remote = await until('the remote screen to follow', async () => {
    const [shown, width] = await screen.evaluate((canvas) => [
      canvas.getBoundingClientRect().width,
      Number((canvas as HTMLElement).dataset['remoteWidth']),
    ])
    return shown === width && width !== undefined && width < 800 ? width : null
  })
  await screen.click({ position: { x: remote / 2, y: 10 } })
  await until('the click in the middle', () =>
    site.told.some((what) => {
      const [name, x] = what.split(',')
      return name === 'mouse' && Math.abs(Number(x) - remote / 2) <= 1
    }),
  )
})

keyboard.run()
