import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Connections } from '../../schemas/connection/connection.ts'
import { Leases } from '../../schemas/lease/lease.ts'
import { releaseLeases } from '../../schemas/lease/lease-ends.ts'
import { until } from '../support/until.ts'
import { openVisitorBrowser } from '../support/visitor.ts'
import { anyKeySignsIn, openLiveFlow } from './open-flow.ts'
import { type OwnSite, startOwnSite } from './own-site.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const life = suite('the life of a lease')

/** Any key signs in: the session cookie, and one that the site knows the device by. */
const pages = () => ({
  '/': `<h1>Press a key</h1><script>
tell('cookies:' + document.cookie)
addEventListener('keydown', () => { document.cookie = 'device=known; max-age=9999'; document.cookie = 'session=secret-session' })
</script>`,
})

let site: OwnSite
let world: FarmWorld
let browser: Browser
let farmPid: number
life.before(async () => {
  site = await startOwnSite({ pages, session: anyKeySignsIn.session })
  world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '1' } })
  farmPid = Number((await world.farmProcess()).pid)
  browser = await openVisitorBrowser()
})
life.after(async () => {
  await browser?.close()
  await world?.stop()
  await site?.stop()
})

const open = (userRef: string) => openLiveFlow({ browser, world, userRef })
const alertOf = async ({ page }: { page: Page }) => String(await page.getByRole('alert').textContent())

life('a browser that dies is launched again, and the visitor begins anew on the same page', async () => {
  const hosted = await open('one')
  const { stdout } = await promisify(execFile)('pgrep', ['-P', String(farmPid), '-f', 'headless'])
  const [pid] = stdout.trim().split('\n')
  process.kill(Number(pid), 'SIGKILL')
  await hosted.page.locator('[data-notice]', { hasText: 'sign in once more' }).waitFor()
  await hosted.reaches('live')
  await hosted.press('a')
  await hosted.reaches('connected')
  assert.is((await Leases.findOne({ userRef: 'one' }).lean())?.fence, 1)
  await hosted.close()
})

life('a session that was handed over before its node died ends as the same connection', async () => {
  const before = await Leases.findOne({ userRef: 'one' }).lean()
  await Leases.updateOne(
    { userRef: 'one' },
    { $set: { state: 'checking', claimableAt: new Date() }, $unset: { endedAt: 1, connectionId: 1 } },
  )
  const after = await until('the lease to end again', () =>
    Leases.findOne({ userRef: 'one', state: 'connected' }).lean(),
  )
  assert.equal([after.connectionId, after.fence], [before?.connectionId, 2])
  assert.is(await Connections.countDocuments({ userRef: 'one' }), 1)
})

life('a reconnect begins with what the browser of the ended session remembered, but its session', async () => {
  await Connections.updateOne({ userRef: 'one' }, { $set: { status: 'needs_reauth' } })
  site.told.length = 0
  const hosted = await open('one')
  await until('the page to see its cookies', () => site.told.includes('cookies:device=known'))
  await hosted.close()
})

life('a flow that an operator releases ends with what to do next', async () => {
  const hosted = await open('released')
  await releaseLeases({ filter: { userRef: 'released' }, now: new Date() })
  await hosted.reaches('failed')
  assert.match(await alertOf(hosted), 'This sign-in was ended. Return to Acme Notes and start again.')
  const lease = await Leases.findOne({ userRef: 'released' }).lean()
  assert.equal([lease?.state, lease?.claimableAt], ['released', undefined])
  await hosted.close()
})

life('a visitor who comes back after the end is told how it ended', async () => {
  const hosted = await open('back-later')
  await releaseLeases({ filter: { userRef: 'back-later' }, now: new Date() })
  await hosted.reaches('failed')
  await hosted.page.reload()
  await hosted.reaches('failed')
  assert.match(await alertOf(hosted), 'This sign-in was ended.')
  await hosted.close()
})

life.run()
