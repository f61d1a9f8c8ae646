import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { WebSocket } from 'ws'
import { signLink } from '../../../sdk/src/index.ts'
import { CLOSE_REPLACED } from '../../../wire/stream-constants.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { until } from '../../support/until.ts'

let world: HttpWorld
test.before(async () => {
  world = await startHttpWorld()
})
test.after(() => world.stop())

/** A browser that has begun a flow, which no farm node takes. */
async function begun(): Promise<{ cookie: string; flow: string }> {
  const { appSecret } = world.one
  const { token } = signLink({ appId: 'app-one', appSecret, baseUrl: world.url, userRef: 'someone' })
  const taken = await fetch(`${world.url}/start?token=${token}`, { redirect: 'manual' })
  const cookie = String(taken.headers.get('set-cookie')).split(';')[0] ?? ''
  const page = await fetch(`${world.url}/start`, { headers: { cookie } })
  const flow = /data-flow="([^"]*)"/.exec(await page.text())?.[1] ?? ''
  const answer = await fetch(`${world.url}/start`, {
    method: 'POST',
    headers: { cookie, origin: world.runtime.config.BASE_URL },
    body: JSON.stringify({ flow, viewport: { width: 800, height: 600, deviceScaleFactor: 1, mobile: false } }),
  })
  assert.is(answer.status, 200)
  return { cookie, flow }
}

test('however many sockets one cookie opens, one page looks at its flow', async () => {
  const { cookie, flow } = await begun()
  const codes: number[] = []
  const open = async (): Promise<WebSocket> => {
    const socket = new WebSocket(`${world.url.replace('http', 'ws')}/start/stream?flow=${flow}`, {
      headers: { cookie, origin: world.runtime.config.BASE_URL },
    })
    socket.on('close', (code) => codes.push(code))
    await once(socket, 'open')
    return socket
  }
  for (let count = 0; count < 9; count++) await open()
  const last = await open()
  const told = once(last, 'message')
  await until('the earlier ones to be told', async () => codes.length === 9)
  assert.equal(new Set(codes), new Set([CLOSE_REPLACED]))
  assert.match(String(await told), /"waiting"/)
  assert.is(last.readyState, WebSocket.OPEN)
  last.terminate()
})

test.run()
