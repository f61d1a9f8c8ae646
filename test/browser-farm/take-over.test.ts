import { once } from 'node:events'
import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Connections } from '../../schemas/connection/connection.ts'
import { Leases } from '../../schemas/lease/lease.ts'
import { openVisitorBrowser, signIn } from '../support/visitor.ts'
import { openFlow } from './open-flow.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const takeOver = suite('farm nodes that come and go')

let world: FarmWorld
let browser: Browser
takeOver.before(async () => {
  world = await startFarmWorld({ env: { TIME_SCALE: '1' } })
  browser = await openVisitorBrowser()
})
takeOver.after(async () => {
  await browser?.close()
  await world?.stop()
})

const open = (userRef: string) => openFlow({ browser, world, userRef })

takeOver('while no node has room the page says so; a node that ends in good order hands over at once', async () => {
  const hosted = await open('orderly')
  await hosted.page.getByText('All browsers are busy').first().waitFor()
  const first = await world.farmProcess()
  await hosted.reaches('live')
  const second = await world.farmProcess()
  first.kill('SIGTERM')
  const [status] = await once(first, 'exit')
  assert.is(status, 0)
  await hosted.page.getByText('sign in once more').first().waitFor()
  await signIn(hosted, { email: 'ada@example.test' })
  await hosted.reaches('connected')
  second.kill('SIGTERM')
  await once(second, 'exit')
  await hosted.close()
})

takeOver('kill -9 of a node: another one takes the flow over and the visitor signs in anew', async () => {
  const first = await world.farmProcess()
  const hosted = await open('crash')
  await hosted.reaches('live')
  first.kill('SIGKILL')
  await hosted.page.getByText('The browser was lost').first().waitFor()
  const second = await world.farmProcess()
  await signIn(hosted, { email: 'grace@example.test' })
  await hosted.reaches('connected')
  assert.is((await Leases.findOne({ userRef: 'crash' }).lean())?.fence, 2)
  assert.is(await Connections.countDocuments({ userRef: 'crash' }), 1)
  second.kill('SIGTERM')
  await once(second, 'exit')
  await hosted.close()
})

takeOver('a node that freezes: the visitor is told, and another one takes the flow over', async () => {
  const first = await world.farmProcess()
  const hosted = await open('frozen')
  await hosted.reaches('live')
  first.kill('SIGSTOP')
  try {
    await hosted.page.getByText('The browser was lost').first().waitFor()
    await world.farmProcess()
    await signIn(hosted, { email: 'mary@example.test' })
    await hosted.reaches('connected')
  } finally {
    first.kill('SIGCONT')
  }
  assert.is(await Connections.countDocuments({ userRef: 'frozen' }), 1)
  await hosted.close()
})

takeOver.run()
