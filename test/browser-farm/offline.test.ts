import type { Browser, Page } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { freePort } from '../../start/set-up/database/ports.ts'
import { type SilentProxy, startSilentProxy } from '../support/silent-proxy.ts'
import { until } from '../support/until.ts'
import { type HostedPage, hostedPage, openVisitorBrowser } from '../support/visitor.ts'
import { type OwnSite, startOwnSite } from './own-site.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const offline = suite('a network that passes nothing')

const pages = () => ({
  '/': '<body><input autofocus><script>document.querySelector("input").oninput = ({ target }) => tell(target.value)</script>',
})

let site: OwnSite
let world: FarmWorld
let network: SilentProxy
let browser: Browser
let page: Page
let hosted: HostedPage
offline.before(async () => {
  const port = await freePort()
  site = await startOwnSite({ pages })
  const publicUrl = `http://127.0.0.1:${port}`
  world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '1', BASE_URL: publicUrl } })
  network = await startSilentProxy({ port, target: Number(new URL(world.baseUrl).port) })
  await world.farm()
  browser = await openVisitorBrowser()
  page = await browser.newPage()
  const link = new URL(world.link({ userRef: 'offline' }))
  link.port = String(port)
  await page.goto(link.href)
  hosted = hostedPage(page)
  await hosted.reaches('live')
})
offline.after(async () => {
  await browser?.close()
  await network?.stop()
  await world?.stop()
  await site?.stop()
})

offline('says so, keeps what is typed, and goes on by itself with all of it once and in order', async () => {
  await hosted.type('before')
  await until('typing to arrive', () => site.told.includes('before'))
  network.freeze()
  await hosted.type(' lost?')
  await hosted.reaches('waiting')
  await page.getByText('You may be offline').waitFor()
  await page.keyboard.type(' held')
  network.restore()
  await hosted.reaches('live')
  await page.keyboard.type(' after')
  await until('all of it', () => site.told.includes('before lost? held after'))
  assert.is(site.told.filter((text) => text.startsWith('before')).at(-1), 'before lost? held after')
})

offline.run()
