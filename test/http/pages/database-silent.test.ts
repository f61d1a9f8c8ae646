import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { WebSocket } from 'ws'
import { signLink } from '../../../sdk/src/index.ts'
import type { FarmMessage } from '../../../wire/stream.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { type HttpProcess, startHttpProcess } from '../../support/http-process.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../../support/proxy.ts'
import { until } from '../../support/until.ts'

/** docs/security.md, Reliability; a request that takes longer fails the test. */
const ANSWER_MS = 5_000
const OURS = 'Something went wrong on our side. Please try again in a moment.'
let world: HttpWorld
let proxy: DatabaseProxy
let process: HttpProcess

test.before(async () => {
  world = await startHttpWorld()
  proxy = await startDatabaseProxy(world.runtime.config.MONGODB_URL)
  process = await startHttpProcess({ ...world.env, MONGODB_URL: proxy.url })
})
test.after(async () => {
  proxy.restore()
  const status = await process.stop()
  await proxy.stop()
  await world.stop()
  assert.is(status, 0)
})

const ask = async (
  path: string,
  { headers = {}, ...init }: RequestInit & { headers?: Record<string, string> } = {},
) => {
  const response = await fetch(`${process.url}${path}`, {
    redirect: 'manual',
    signal: AbortSignal.timeout(ANSWER_MS),
    headers,
    ...init,
  })
  const cookie = String(response.headers.get('set-cookie')).split(';')[0] ?? ''
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text(), cookie }
}
const token = (purpose: 'connect' | 'manage') =>
  signLink({ appId: 'app-one', appSecret: world.one.appSecret, purpose, baseUrl: process.url, userRef: 'someone' })
    .token

/** A browser that opened a link, with the flow that its page names. */
async function opened(purpose: 'connect' | 'manage', path: string) {
  const { cookie } = await ask(`${path}?token=${token(purpose)}`)
  const { status, text } = await ask(path, { headers: { cookie } })
  assert.is(status, 200)
  const flow = /data-flow="([^"]*)"/.exec(text)?.[1] ?? ''
  return { cookie, flow }
}

test('while the database is silent every page is there in time and says what to do, and the stream says that it waits', async () => {
  const start = await opened('connect', '/start')
  const manage = await opened('manage', '/manage')
  const signIn = await ask('/developers/sign-in')
  const [, formToken = ''] = /name="formToken" value="([^"]*)"/.exec(signIn.text) ?? []
  proxy.freeze()
  const { BASE_URL: origin } = world.runtime.config
  const form = { 'content-type': 'application/x-www-form-urlencoded', cookie: manage.cookie }
  const pages = [
    ask('/start', { headers: { cookie: start.cookie } }),
    ask(`/start?token=${token('connect')}`),
    ask('/manage', { headers: { cookie: manage.cookie } }),
    ask(`/manage?token=${token('manage')}`),
    ask('/manage/delete', { headers: { cookie: manage.cookie } }),
    ask('/manage/delete', { method: 'POST', headers: form, body: 'flow=x' }),
  ]
  const mailed = ask('/developers/sign-in', {
    method: 'POST',
    headers: { ...form, cookie: signIn.cookie, origin },
    body: new URLSearchParams({ formToken, email: 'somebody@example.test' }).toString(),
  })
  for (const page of await Promise.all(pages)) {
    assert.is(page.status, 500)
    assert.match(page.text, `<p role="alert">${OURS}</p>`)
    assert.match(String(page.type), 'text/html')
  }
  assert.is((await mailed).status, 500)
  const viewport = { width: 800, height: 600, deviceScaleFactor: 1, mobile: false }
  const begun = await ask('/start', {
    method: 'POST',
    headers: { cookie: start.cookie, origin, 'content-type': 'application/json' },
    body: JSON.stringify({ flow: start.flow, viewport }),
  })
  assert.equal([begun.status, JSON.parse(begun.text)], [500, { error: OURS }])

  const address = `${process.url.replace('http', 'ws')}/start/stream?flow=${start.flow}`
  const socket = new WebSocket(address, { headers: { cookie: start.cookie, origin } })
  const told = await new Promise<unknown>((resolve, reject) => {
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as FarmMessage
      if (message.type === 'state') resolve(message)
    })
    socket.once('error', reject)
    AbortSignal.timeout(ANSWER_MS).addEventListener('abort', () => reject(new Error('the stream said nothing')))
  })
  socket.terminate()
  assert.match(JSON.stringify(told), '"state":"waiting"')
  assert.match(JSON.stringify(told), '"reason":"silent"')

  proxy.restore()
  await until(
    'the page is there again',
    async () => (await ask('/start', { headers: { cookie: start.cookie } })).status === 200,
  )
})

test.run()
