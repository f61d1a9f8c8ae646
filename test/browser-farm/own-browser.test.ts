import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { boundedViewport } from '../../browser-farm/device-pixels.ts'
import { launchBrowser } from '../../browser-farm/launch-browser.ts'
import { Leases } from '../../schemas/lease/lease.ts'
import { below, commandOf } from '../support/process-tree.ts'
import { until } from '../support/until.ts'
import { hostedPage, openVisitorBrowser } from '../support/visitor.ts'
import { type OwnSite, startOwnSite } from './own-site.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const own = suite('a browser for each lease')

const pages = () => ({
  '/': `<body style="margin:0;height:4000px"><iframe src="/frame" style="position:absolute;left:100px;top:100px;width:200px;height:100px;border:0"></iframe><script>
addEventListener('mousedown', ({ clientX, clientY }) => tell(['mouse', clientX, clientY]))
addEventListener('scroll', () => tell('scroll:' + Math.round(scrollY)))
tell('ratio:' + devicePixelRatio + ',' + innerWidth)
</script>`,
  '/frame': `<script>addEventListener('mousedown', ({ clientX, clientY }) => tell(['frame', clientX, clientY]))</script>`,
})

let site: OwnSite
let world: FarmWorld
let browser: Browser
own.before(async () => {
  site = await startOwnSite({ pages })
  world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '1' } })
  browser = await openVisitorBrowser()
})
own.after(async () => {
  await browser?.close()
  await world?.stop()
  await site?.stop()
})

const open = async (userRef: string, options: Parameters<Browser['newContext']>[0] = {}) => {
  const context = await browser.newContext(options)
  const page = await context.newPage()
  await page.goto(world.link({ userRef }))
  const hosted = hostedPage(page)
  await hosted.reaches('live')
  return { ...hosted, close: () => context.close() }
}

/** The profile folders of the browsers that run below the farm: each browser has its own. */
const profilesBelow = async (root: number): Promise<string[]> => {
  const commands = await Promise.all([...(await below(root)).keys()].map(commandOf))
  return [...new Set(commands.flatMap((command) => /--user-data-dir=([^\0 ]+)/.exec(command)?.[1] ?? []))]
}
const lives = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

own('has a profile of its own, nothing of the service in its environment, and goes with its node', async () => {
  const farm = await world.farmProcess()
  const root = Number(farm.pid)
  const first = await open('first')
  const second = await open('second')
  await until(
    'three browsers: one for each lease and one at hand',
    async () => (await profilesBelow(root)).length === 3,
  )
  const processes = [...(await below(root)).keys()]
  for (const pid of processes.filter((each) => each !== root)) {
    if (!(await commandOf(pid)).includes('chrom')) continue
    const environ = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '')
    for (const name of ['MASTER_KEY', 'OPERATOR_KEY', 'MONGODB_URL', 'BASE_URL'])
      assert.not.match(environ, name, await commandOf(pid))
  }
  await first.close()
  await Leases.updateMany({ userRef: 'first' }, { $set: { expiresAt: new Date(0) } })
  const folder = /^(.*\/ccs-farm-[^/]+)/.exec((await profilesBelow(root))[0] ?? '')?.[1] ?? ''
  assert.match(folder, tmpdir())
  farm.kill('SIGKILL')
  await once(farm, 'exit')
  await until('every process of the browsers to be gone', () => !processes.some(lives))
  const left = (await readdir(tmpdir())).filter((name) => folder.endsWith(name))
  assert.is(left.length, 1)
  await second.close()
  await world.farmProcess()
  assert.not.ok((await readdir(tmpdir())).some((name) => folder.endsWith(name)))
})

own(
  'takes nothing away that Playwright enables or disables: of several flags of a name Chromium takes the last',
  async () => {
    const farm = await world.farmProcess()
    const browsers = async () => {
      const commands = await Promise.all([...(await below(Number(farm.pid))).keys()].map(commandOf))
      return commands.filter((command) => command.includes('--enable-features=') && !command.includes('--type='))
    }
    const [command = ''] = await until('a browser', async () => ((await browsers()).length > 0 ? browsers() : null))
    for (const flag of ['enable', 'disable']) {
      const named = command.matchAll(new RegExp(`--${flag}-features=([^\\0 ]+)`, 'g'))
      const features = [...named].map(([, names = '']) => names.split(','))
      const last = features.at(-1) ?? []
      assert.ok(features.length > 1)
      assert.equal(
        features.flat().filter((name) => !last.includes(name)),
        [],
      )
    }
  },
)

own('a window is the page that it shows and nothing else', async () => {
  const opened = await launchBrowser({ CHROMIUM_PATH: process.env['CHROMIUM_PATH'] })
  await opened.newPage()
  const devtools = await opened.newBrowserCDPSession()
  const { targetInfos } = await devtools.send('Target.getTargets', { filter: [{}] })
  await opened.close()
  assert.equal(targetInfos.map(({ type }) => type).toSorted(), ['page', 'tab'])
})

own('shows every device pixel of the visitor, and a click lands where it was made', async () => {
  const viewport = { width: 900, height: 700 }
  for (const deviceScaleFactor of [2, 3]) {
    site.told.length = 0
    const hosted = await open(`sharp-${deviceScaleFactor}`, { viewport, deviceScaleFactor })
    await hosted.screenChanged()
    const { screen } = hosted
    const size = await screen.evaluate((canvas) => ({
      pixels: (canvas as HTMLCanvasElement).width,
      css: Number((canvas as HTMLElement).dataset['remoteWidth']),
      shown: canvas.getBoundingClientRect().width,
    }))
    assert.is(size.pixels, size.css * deviceScaleFactor)
    assert.ok(site.told.includes(`ratio:${deviceScaleFactor},${size.css}`))
    const at = (x: number, y: number) => ({
      position: { x: (x * size.shown) / size.css, y: (y * size.shown) / size.css },
    })
    const tells = (what: string) => until(what, () => site.told.includes(what))
    await screen.click(at(400, 300))
    await tells('mouse,400,300')
    await screen.click(at(150, 140))
    await tells('frame,50,40')
    await screen.hover(at(400, 300))
    await hosted.page.mouse.wheel(0, 250)
    await tells('scroll:250')
    await hosted.close()
  }
})

own('a screen is no larger than a node can bear, however large a lease asks for it', () => {
  for (const asked of [
    { width: 2_560, height: 2_560, deviceScaleFactor: 4, mobile: false },
    { width: 1e9, height: 1, deviceScaleFactor: 1, mobile: false },
    { width: 390, height: 844, deviceScaleFactor: 3, mobile: true },
  ]) {
    const { width, height, deviceScaleFactor: ratio } = boundedViewport(asked)
    assert.ok(width * height * ratio * ratio <= 3_840 * 2_160 + 1)
    assert.ok(width >= 240 && height >= 240 && ratio >= 1)
  }
  const phone = { width: 390, height: 844, deviceScaleFactor: 3, mobile: true }
  assert.equal(boundedViewport(phone), phone)
})

own.run()
