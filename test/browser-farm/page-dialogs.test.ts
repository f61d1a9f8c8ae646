import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { type Visit, visitOwnSite } from './visit.ts'

const dialogs = suite('what a page asks')

const pages = () => ({
  '/': `<body><script>
addEventListener('keydown', ({ key }) => {
  if (key === 'a') { alert('Mind the gap'); tell('alert done') }
  if (key === 'c') tell('confirm:' + confirm('Really?'))
  if (key === 'p') tell('prompt:' + prompt('Your name?', 'Nobody'))
  if (key === 'l') { onbeforeunload = (event) => event.preventDefault(); location.href = '/left' }
})
</script>Press a key`,
  // Keys reach a page that is drawn and has the focus, which comes after it was shown again.
  '/left': `left<script>
const look = () => requestAnimationFrame(() => document.hasFocus() ? tell('seen') : look())
addEventListener('pageshow', look)
addEventListener('keydown', () => { location.href = '/locked' })
tell('left')
</script>`,
  '/locked': '<script>tell("let in")</script>',
})

let visit: Visit
let site: Visit['site']
let page: Visit['page']
let hosted: Visit['hosted']
dialogs.before(async () => {
  visit = await visitOwnSite({ pages, passwords: { '/locked': 'ada:secret' } })
  ;({ site, page, hosted } = visit)
})
dialogs.after(() => visit?.stop())

const tells = (what: string) => visit.tells(what)
const button = (name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true })

dialogs('an alert is shown until it is read', async () => {
  await hosted.press('a')
  await page.getByRole('dialog', { name: 'says' }).getByText('Mind the gap').waitFor()
  assert.not.ok(site.told.includes('alert done'))
  await button('OK').click()
  await tells('alert done')
  assert.is(await page.getByRole('dialog').count(), 0)
})

dialogs('a question is answered with yes or no by the visitor', async () => {
  for (const [name, told] of [
    ['OK', 'confirm:true'],
    ['Cancel', 'confirm:false'],
  ] as const) {
    await hosted.press('c')
    await page.getByText('Really?').waitFor()
    await button(name).click()
    await tells(told)
  }
})

dialogs('a prompt begins with what the page gives, and takes a text or none', async () => {
  await hosted.press('p')
  const answer = page.getByRole('dialog').getByRole('textbox')
  assert.is(await answer.inputValue(), 'Nobody')
  // Selected, so that typing replaces it.
  await page.keyboard.type('Ada')
  await page.keyboard.press('Enter')
  await tells('prompt:Ada')
  await hosted.press('p')
  await answer.waitFor()
  await page.keyboard.press('Escape')
  await tells('prompt:null')
})

dialogs('a question stays for whoever comes back to the page', async () => {
  await hosted.press('c')
  await page.getByText('Really?').waitFor()
  await page.reload()
  await page.getByText('Really?').waitFor()
  const before = site.told.length
  await button('OK').click()
  await until('the answer', () => site.told[before] === 'confirm:true')
  await hosted.reaches('live')
})

dialogs('a page that is being left asks first', async () => {
  await hosted.press('l')
  await page.getByRole('dialog').waitFor()
  await button('Cancel').click()
  await until('the dialog to be gone', async () => (await page.getByRole('dialog').count()) === 0)
  assert.not.ok(site.told.includes('left'))
  await hosted.press('l')
  await button('OK').click()
  await tells('left')
})

dialogs(
  'who does not answer a server that wants a password is where they were, and nothing says otherwise',
  async () => {
    const asked = page.getByRole('dialog', { name: 'asks for a user name and a password' })
    const decline = async () => {
      const seen = () => site.told.filter((what) => what === 'seen').length
      const before = seen()
      await hosted.press('b')
      await asked.waitFor()
      // What came over the same stream before the question is shown by now.
      assert.is(await page.locator('[data-notice]').isVisible(), false)
      await asked.getByRole('button', { name: 'Cancel' }).click()
      await until('the page before', () => seen() > before)
    }
    // One that is still loading is replaced by where it leads to, as in every browser.
    await tells('seen')
    await decline()
    await decline()
  },
)

dialogs('a server that wants a user name and a password asks the visitor, until they are right', async () => {
  await hosted.press('b')
  const asked = page.getByRole('dialog', { name: 'asks for a user name and a password' })
  const password = asked.getByLabel('Password')
  await asked.getByLabel('User name').fill('ada')
  await password.fill('wrong')
  await page.keyboard.press('Enter')
  await until('the question to come again', async () => (await password.inputValue().catch(() => null)) === '')
  await asked.getByLabel('User name').fill('ada')
  await password.fill('secret')
  await page.keyboard.press('Enter')
  await tells('let in')
  assert.is(await asked.count(), 0)
})

dialogs.run()
