import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Apps } from '../../../schemas/app/app.ts'
import { Leases } from '../../../schemas/lease/lease.ts'
import { type SignLinkOptions, signLink } from '../../../sdk/src/index.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'

let world: HttpWorld
test.before(async () => {
  world = await startHttpWorld()
  await Apps.updateOne({ _id: 'app-one' }, { $set: { name: 'One & Only' } })
})
test.after(() => world.stop())

const token = (options: Partial<SignLinkOptions> = {}) =>
  signLink({ appId: 'app-one', appSecret: world.one.appSecret, baseUrl: world.url, userRef: 'someone', ...options })
    .token

const ask = async (
  path: string,
  { headers = {}, ...init }: RequestInit & { headers?: Record<string, string> } = {},
) => {
  const response = await fetch(`${world.url}${path}`, { redirect: 'manual', headers, ...init })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

async function opened(options: Partial<SignLinkOptions> = {}) {
  const taken = await ask(`/start?token=${token(options)}`)
  const cookie = String(taken.headers.get('set-cookie')).split(';')[0] ?? ''
  const { text } = await ask('/start', { headers: { cookie } })
  return { cookie, flow: /data-flow="([^"]*)"/.exec(text)?.[1] ?? '' }
}

const DESK = { width: 1_440, height: 960, deviceScaleFactor: 2, mobile: false }
const begin = (
  { cookie, flow }: { cookie: string; flow: string },
  { viewport = DESK, headers = {} }: { viewport?: object; headers?: Record<string, string> } = {},
) =>
  ask('/start', {
    method: 'POST',
    headers: { cookie, origin: world.runtime.config.BASE_URL, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ flow, viewport }),
  })

test('whatever else is asked of a page or of what it loads is answered 405', async () => {
  for (const method of ['PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const answer = await ask('/start', { method })
    assert.equal([answer.status, answer.headers.get('allow')], [405, 'GET, HEAD, POST'], method)
  }
  for (const method of ['POST', 'DELETE']) {
    const answer = await ask('/assets/theme-334155.css', { method })
    assert.equal([answer.status, answer.headers.get('allow')], [405, 'GET, HEAD'], method)
  }
  assert.is((await ask('/assets/theme-334155.css')).status, 200)
  assert.is((await ask('/assets/none.css')).status, 404)
})

test('a screen of a bounded area is lent, and none for another site or for no link', async () => {
  const visitor = await opened({ userRef: 'bounds' })
  const refused = [
    { ...DESK, width: 2_560, height: 2_560, deviceScaleFactor: 2 },
    { ...DESK, deviceScaleFactor: 4 },
    { ...DESK, width: 100 },
    { ...DESK, height: 2_561 },
    { ...DESK, width: 800.5 },
    { ...DESK, more: 1 },
  ]
  for (const viewport of refused) assert.is((await begin(visitor, { viewport })).status, 400, JSON.stringify(viewport))
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'same-site' }])
    assert.is((await begin(visitor, { headers: headers as Record<string, string> })).status, 403)
  const stranger = await begin({ ...visitor, cookie: 'ccs_start=x' })
  assert.equal([stranger.status, stranger.headers.get('content-type')?.split(';')[0]], [400, 'application/json'])
  assert.is(await Leases.countDocuments({ userRef: 'bounds' }), 0)
  assert.is((await begin(visitor)).status, 200)
  assert.is((await begin({ ...visitor, flow: 'another' })).status, 409)
  assert.equal((await Leases.findOne({ userRef: 'bounds' }).lean())?.viewport, DESK)
})

test('a link that its app signed and that is too late, spent or for something else is told under its name, with the way back', async () => {
  const redirectUrl = 'https://one.example/back?a=1&b=2'
  const spent = token({ userRef: 'spent', redirectUrl })
  const taken = await ask(`/start?token=${spent}`)
  const cookie = String(taken.headers.get('set-cookie')).split(';')[0] ?? ''
  const page = await ask('/start', { headers: { cookie } })
  await begin({ cookie, flow: /data-flow="([^"]*)"/.exec(page.text)?.[1] ?? '' })
  const cases: [string, number, string, string][] = [
    [token({ now: Date.now() - 3_600_000, redirectUrl }), 401, 'This link has expired.', 'Link expired'],
    [token({ purpose: 'manage', redirectUrl }), 400, 'This link is for something else.', 'Not connected'],
    [token({ provider: 'unheard-of', redirectUrl }), 400, 'cannot be connected here', 'Not connected'],
    [spent, 403, 'This link has already been used.', 'Link already used'],
  ]
  for (const [link, status, words, title] of cases) {
    let answer = await ask(`/start?token=${link}`)
    if (answer.status === 303) {
      const [carried = ''] = String(answer.headers.get('set-cookie')).split(';')
      answer = await ask('/start', { headers: { cookie: carried } })
    }
    assert.is(answer.status, status, words)
    assert.match(answer.text, words)
    assert.match(answer.text, `<title>${title} · One &amp; Only</title>`)
    assert.match(answer.text, 'Return to One &amp; Only and start again from there.')
    assert.match(answer.text, 'href="https://one.example/back?a=1&amp;b=2">Return to One &amp; Only</a>')
  }
  const forged = await ask(`/start?token=${token({ appSecret: 'x'.repeat(43), redirectUrl })}`)
  assert.is(forged.status, 401)
  assert.not.match(forged.text, 'one.example', 'an unproven address is nobody’s way back')
  assert.not.match(forged.text, 'One &amp; Only')
  assert.match(forged.text, 'Return to the app and start again from there.')
})

test('a link whose secret was taken back while its page was open begins nothing', async () => {
  const visitor = await opened({ userRef: 'taken-back' })
  const app = await Apps.findById('app-one').lean()
  await Apps.updateOne({ _id: 'app-one' }, { $set: { 'linkSecrets.0.expiresAt': new Date(0) } })
  assert.is((await begin(visitor)).status, 401)
  await Apps.updateOne({ _id: 'app-one' }, { $set: { linkSecrets: app?.linkSecrets ?? [] } })
  assert.is(await Leases.countDocuments({ userRef: 'taken-back' }), 0)
})

test('a body that does not come ends its connection', async () => {
  const { cookie } = await opened({ userRef: 'slow' })
  const { hostname, port } = new URL(world.url)
  const heads = ['/start', '/manage/delete'].map((path) =>
    [
      `POST ${path} HTTP/1.1`,
      `Host: ${hostname}`,
      `Origin: ${world.runtime.config.BASE_URL}`,
      `Cookie: ${cookie}`,
      `Content-Type: ${path === '/start' ? 'application/json' : 'application/x-www-form-urlencoded'}`,
      'Content-Length: 100',
      '',
      'f',
    ].join('\r\n'),
  )
  const closed = heads.map(async (head) => {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    socket.write(head)
    socket.resume()
    await once(socket, 'close', { signal: AbortSignal.timeout(30_000) })
  })
  await Promise.all(closed)
})

test.run()
