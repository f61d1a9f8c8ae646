import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { until } from '../support/until.ts'
import { type Visit, visitOwnSite } from './visit.ts'

const guard = suite('what the hosted browser may not do')

/** `localhost` is not among the profile's hosts, `127.0.0.1` is: the same server under a forbidden name. */
const pages = (port: number) => ({
  '/': `<script>
const away = 'http://localhost:${port}'
const actions = {
  a: () => fetch(away + '/fetched').then(() => tell('fetched'), () => tell('no fetch')),
  b: () => { location.href = away + '/visited' },
  c: () => { location.href = '/redirect' },
  d: () => { open(away + '/popup') },
  e: () => { location.href = 'data:text/html,<h1>data</h1>' },
  f: () => { location.href = 'file:///etc/passwd' },
  g: () => { document.body.append(Object.assign(document.createElement('iframe'), { src: away + '/framed' })) },
  i: () => { const a = Object.assign(document.createElement('a'), { href: '/', download: 'x.html' }); document.body.append(a); a.click() },
  j: () => navigator.permissions.query({ name: 'geolocation' }).then(({ state }) => tell('geolocation ' + state)),
  k: () => { const socket = new WebSocket('ws://localhost:${port}/socket'); socket.onerror = () => tell('no socket') },
}
addEventListener('keydown', ({ key }) => actions[key]?.())
tell('loaded')
</script><h1>Login</h1>`,
})

let visit: Visit
let site: Visit['site']
let hosted: Visit['hosted']
guard.before(async () => {
  visit = await visitOwnSite({
    pages,
    redirects: (port) => ({ '/redirect': `http://localhost:${port}/redirected` }),
  })
  ;({ site, hosted } = visit)
})
guard.after(() => visit?.stop())

const tells = (what: string) => visit.tells(what)
const notice = (text: string) => hosted.page.locator('[data-notice]', { hasText: text }).waitFor()
/** The login page is shown and takes keys: its action `j` answers. Pressed again and again, since a key may meet a window that closes. */
const loginPageAnswers = async (): Promise<void> => {
  const answers = () => site.told.filter((what) => what === 'geolocation denied').length
  const before = answers()
  await until('the login page to answer', async () => {
    await hosted.press('j')
    return answers() > before
  })
}

guard('requests, frames and sockets of pages to other hosts fail', async () => {
  await hosted.press('a')
  await tells('no fetch')
  await hosted.press('k')
  await tells('no socket')
  await hosted.press('g')
})

guard('pages of other hosts are not visited: neither by a link, a redirect, nor a second window', async () => {
  const loads = () => site.told.filter((what) => what === 'loaded').length
  const before = loads()
  await hosted.press('b')
  await notice('localhost is not part of the sign-in')
  await loginPageAnswers()
  await hosted.press('c')
  await until('the redirect to be asked for', () => site.requests.some((request) => request.endsWith('/redirect')))
  await loginPageAnswers()
  assert.is(loads(), before, 'the page is not loaded again: what was typed is there still')
  const windows = () => site.requests.filter((request) => request.endsWith('/popup')).length
  await hosted.press('d')
  await notice('localhost is not part of the sign-in')
  await loginPageAnswers()
  assert.is(windows(), 0)
})

guard('addresses that are no pages of the web are not opened', async () => {
  await hosted.press('e')
  await hosted.press('f')
  await loginPageAnswers()
})

guard('nothing is downloaded, nothing is permitted', async () => {
  await hosted.press('i')
  await notice('Downloads are not possible')
  await loginPageAnswers()
})

guard('no request has reached the forbidden name', () => {
  assert.equal(
    site.requests.filter((request) => request.startsWith('localhost')),
    [],
  )
})

guard.run()
