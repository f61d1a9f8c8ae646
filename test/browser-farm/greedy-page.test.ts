import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { type Visit, visitOwnSite } from './visit.ts'

const greedy = suite('a page that takes all that it can get')

const UNASKED = 40
const CLICKS = 20
const LISTS = 100
/** Windows of one lease, the first included. */
const MOST_WINDOWS = 8

const pages = () => ({
  '/': `<script>
addEventListener('keydown', ({ key }) => {
  if (key === 'l') { const text = 'x'.repeat(40e6); console.log(text, text) }
  if (key === 'm') location.href = '/more'
  if (key === 's') {
    const list = document.body.appendChild(document.createElement('select'))
    list.append(...Array.from({ length: 1_000 }, () => new Option('y'.repeat(200))))
    for (let count = 0; count < ${LISTS}; count++) list.dispatchEvent(new MouseEvent('mousedown', { bubbles: true, cancelable: true }))
    tell('opened the list')
  }
  if (key !== 'w') return
  const windows = Array.from({ length: ${UNASKED} }, () => open('about:blank', '_blank'))
  tell('opened ' + windows.filter(Boolean).length)
  for (const each of windows) each?.close()
})
tell('loaded')
</script>`,
  '/more': `<a href="/more" target="_blank" rel="opener" style="position:fixed;inset:0">more</a><script>
const channel = new BroadcastChannel('windows')
const me = Math.random()
const others = new Set()
channel.onmessage = ({ data }) => { if (data === 'who') channel.postMessage(me); else others.add(data) }
addEventListener('keydown', () => {
  others.clear()
  channel.postMessage('who')
  setTimeout(() => tell('windows ' + (others.size + 1)), 300)
})
tell('more')
</script>`,
})

let visit: Visit
let site: Visit['site']
let hosted: Visit['hosted']
greedy.before(async () => {
  visit = await visitOwnSite({ pages })
  ;({ site, hosted } = visit)
})
greedy.after(() => visit?.stop())

greedy('opens one window for one key, and none for no key', async () => {
  await hosted.press('w')
  await until('the windows to be counted', () => site.told.some((what) => what.startsWith('opened')))
  assert.ok(site.told.includes('opened 1'), site.told.join())
})

greedy('is not told about its list as often as it opens it', async () => {
  await hosted.page.reload()
  const socket = hosted.page.waitForEvent('websocket')
  let told = 0
  const count = ({ payload }: { payload: string | Buffer }): void => {
    if (String(payload).startsWith('{"type":"picker","picker"')) told++
  }
  void socket.then((each) => each.on('framereceived', count))
  await hosted.page.reload()
  await hosted.reaches('live')
  await hosted.press('s')
  await visit.tells('opened the list')
  await hosted.page.getByRole('listbox').waitFor()
  await hosted.page.keyboard.press('Escape')
  assert.ok(told < LISTS / 2, `${told} times`)
})

greedy('ends its own browser with a message that is too long, and nobody else', async () => {
  const loads = () => site.told.filter((what) => what === 'loaded').length
  const before = loads()
  await hosted.press('l')
  await hosted.page.getByText('sign in once more').first().waitFor()
  await until('another browser', () => loads() > before)
  await hosted.reaches('live')
})

greedy('has as many windows as a sign-in may need, however often it is clicked', async () => {
  await hosted.press('m')
  await visit.tells('more')
  const box = await hosted.screen.boundingBox()
  for (let click = 0; click < CLICKS; click++) {
    const before = site.told.length
    await hosted.page.mouse.click((box?.x ?? 0) + 100, (box?.y ?? 0) + 100)
    if (click < MOST_WINDOWS - 1) await until('the next window', () => site.told.length > before)
  }
  // A key may meet a window that closes.
  await until('the windows to be counted', async () => {
    await hosted.press('x')
    return site.told.includes(`windows ${MOST_WINDOWS}`)
  })
})

greedy.run()
