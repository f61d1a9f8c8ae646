import { once } from 'node:events'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { WebSocket } from 'ws'
import { signLink } from '../../../sdk/src/index.ts'
import { CLOSE_REPLACED } from '../../../wire/stream-constants.ts'
import { beginFlow } from '../../support/begin-flow.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { until } from '../../support/until.ts'

let world: HttpWorld
test.before(async () => {
  world = await startHttpWorld()
})
test.after(() => world.stop())

test('however many sockets one cookie opens, one page looks at its flow', async () => {
  const { appSecret } = world.one
  const { token } = signLink({ appId: 'app-one', appSecret, baseUrl: world.url, userRef: 'someone' })
  const { cookie, flow } = await beginFlow({ world, token })
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
