import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { WebSocket } from 'ws'
import { systemClock } from '../../core/clock.ts'
import { createKeyring } from '../../core/envelope.ts'
import { readTicket, signTicket, TICKET_MS } from '../../schemas/lease/stream-ticket.ts'
import { liveProcesses } from '../../schemas/operations/process-record.ts'
import { until } from '../support/until.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const tickets = suite('tickets of a farm node')
const clock = systemClock()
const keyring = createKeyring([Buffer.alloc(32, 1)])

let world: FarmWorld
tickets.before(async () => {
  world = await startFarmWorld()
})
tickets.after(async () => {
  await world?.stop()
})

tickets('a ticket is read by its own node, in time, with the right key', () => {
  const now = clock.now()
  const text = signTicket({ leaseId: 'lease', nodeId: 'node', keyring, now })
  assert.is(readTicket({ text, nodeId: 'node', keyring, now })?.leaseId, 'lease')
  assert.is(readTicket({ text, nodeId: 'other', keyring, now }), null)
  assert.is(readTicket({ text, nodeId: 'node', keyring, now: new Date(now.getTime() + TICKET_MS) }), null)
  assert.is(readTicket({ text, nodeId: 'node', keyring: createKeyring([Buffer.alloc(32, 2)]), now }), null)
  for (const wrong of ['', '.', 'x.y', `${text}x`])
    assert.is(readTicket({ text: wrong, nodeId: 'node', keyring, now }), null)
})

tickets('a node lets each ticket in once, and is ready when its browser is', async () => {
  const { url } = await world.farm()
  const record = await until('the node to be registered', async () => (await liveProcesses(clock.now()))[0])
  const text = signTicket({ leaseId: 'none', nodeId: record._id, keyring: world.runtime.keyring, now: clock.now() })
  const outcome = (): Promise<string> =>
    new Promise((resolve) => {
      const socket = new WebSocket(`${url}/?ticket=${text}`)
      socket.on('unexpected-response', (_, response) => resolve(String(response.statusCode)))
      socket.on('open', () => resolve('open'))
      socket.on('error', () => undefined)
    })
  assert.is(await outcome(), 'open')
  assert.is(await outcome(), '403')
  const health = `http://127.0.0.1:${record.healthPort}`
  assert.is((await fetch(`${health}/healthz`)).status, 200)
  assert.is((await fetch(`${health}/readyz`)).status, 200)
  assert.match(await (await fetch(`${health}/metrics`)).text(), /ccs_work\{what="capacity"\} 10\n/)
  assert.is((await fetch(`${health}/other`)).status, 404)
})

tickets.run()
