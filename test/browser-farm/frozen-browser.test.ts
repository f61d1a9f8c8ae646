import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Connections } from '../../schemas/connection/connection.ts'
import { below, commandOf } from '../support/process-tree.ts'
import { openVisitorBrowser } from '../support/visitor.ts'
import { anyKeySignsIn, openFlow } from './open-flow.ts'
import { type OwnSite, startOwnSite } from './own-site.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const frozen = suite('a browser that hangs')

let site: OwnSite
let world: FarmWorld
let browser: Browser
frozen.before(async () => {
  site = await startOwnSite(anyKeySignsIn)
  world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '1' } })
  browser = await openVisitorBrowser()
})
frozen.after(async () => {
  await browser?.close()
  await world?.stop()
  await site?.stop()
})

/** The browser of the first lease of a node: the one that was launched before all others. */
async function firstBrowserOf(node: number): Promise<number> {
  const pids = [...(await below(node)).keys()].sort((a, b) => a - b)
  for (const pid of pids) {
    const command = await commandOf(pid)
    if (command.includes('--headless') && !command.includes('--type=')) return pid
  }
  throw new Error('no browser runs')
}

frozen('is replaced, as one that died', async () => {
  const node = await world.farmProcess()
  const hosted = await openFlow({ browser, world, userRef: 'browser' })
  await hosted.reaches('live')
  const pid = await firstBrowserOf(Number(node.pid))
  process.kill(pid, 'SIGSTOP')
  await hosted.page.getByText('sign in once more').waitFor({ timeout: 60_000 })
  await hosted.reaches('live')
  await hosted.press('a')
  await hosted.reaches('connected')
  assert.is(await Connections.countDocuments({ userRef: 'browser' }), 1)
  await hosted.close()
})

frozen.run()
