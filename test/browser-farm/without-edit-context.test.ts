import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { type Visit, visitOwnSite } from './visit.ts'

/** Firefox and Safari: a field that nobody sees takes what is typed in the canvas's place. */
const typing = suite('a browser that does not know EditContext')

const pages = () => ({
  '/': `<body style="margin:0"><textarea autofocus style="width:400px;height:100px"></textarea><script>
const area = document.querySelector('textarea')
area.addEventListener('input', () => tell('text:' + area.value))
area.addEventListener('compositionupdate', ({ data }) => tell('composing:' + data))
addEventListener('keydown', ({ key }) => tell('key:' + key))
</script>`,
})

let visit: Visit
let site: Visit['site']
let hosted: Visit['hosted']
typing.before(async () => {
  visit = await visitOwnSite({
    pages,
    browser: { permissions: ['clipboard-read', 'clipboard-write'] },
    prepare: (context) => context.addInitScript(() => Reflect.deleteProperty(globalThis, 'EditContext')),
  })
  ;({ site, hosted } = visit)
  await hosted.screen.focus()
})
typing.after(() => visit?.stop())

const tells = (what: string) => visit.tells(what)
const empty = async () => {
  await hosted.page.keyboard.press('Control+a')
  await hosted.page.keyboard.press('Backspace')
  await tells('text:')
  site.told.length = 0
}

typing('keys arrive once, in order', async () => {
  const text = 'Aa1!@ "quoted" '.repeat(8)
  await hosted.page.keyboard.type(text)
  await tells(`text:${text}`)
  await hosted.page.keyboard.press('Enter')
  await tells(`text:${text}\n`)
  assert.not.ok(await hosted.page.evaluate(() => 'EditContext' in globalThis))
  await empty()
})

typing('keys whose place is not known, as those of a keyboard on the screen, arrive too', async () => {
  await hosted.page.evaluate(() => {
    for (const [key, code, keyCode] of [
      ['é', 'Unidentified', 0],
      ['日', '', 0],
      ['Enter', '', 13],
      ['ß', 'Unidentified', 0],
    ] as const)
      for (const type of ['keydown', 'keyup'])
        document.activeElement?.dispatchEvent(new KeyboardEvent(type, { key, code, keyCode, bubbles: true }))
  })
  await tells('text:é日\nß')
  await empty()
})

typing('an input method composes in the remote field and enters its result once', async () => {
  const devtools = await hosted.page.context().newCDPSession(hosted.page)
  await devtools.send('Input.imeSetComposition', { text: 'に', selectionStart: 1, selectionEnd: 1 })
  await tells('composing:に')
  await devtools.send('Input.imeSetComposition', { text: 'にほ', selectionStart: 2, selectionEnd: 2 })
  await tells('composing:にほ')
  await devtools.send('Input.insertText', { text: '日本' })
  await tells('text:日本')
  await hosted.page.keyboard.type('!')
  await tells('text:日本!')
  await empty()
})

typing('a dictation and what was copied arrive as they are', async () => {
  await hosted.page.keyboard.insertText('🙂 dictated ')
  await tells('text:🙂 dictated ')
  await hosted.page.evaluate(() => navigator.clipboard.writeText('pasted 漢字'))
  await hosted.page.keyboard.press('Control+v')
  await tells('text:🙂 dictated pasted 漢字')
})

typing('F6 leaves the screen; a focus on it types again', async () => {
  await hosted.page.keyboard.press('F6')
  assert.not.ok(await hosted.page.evaluate(() => document.activeElement?.matches('canvas, .catcher')))
  site.told.length = 0
  await hosted.screen.focus()
  await hosted.page.keyboard.type('x')
  await until('the key to arrive', () => site.told.includes('key:x'))
})

typing.run()
