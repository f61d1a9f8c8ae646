import { mkdir, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Browser, BrowserContextOptions, Page } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Apps } from '../../../schemas/app/app.ts'
import { signLink } from '../../../sdk/src/index.ts'
import type { FarmMessage } from '../../../wire/stream.ts'
import { frameMessage } from '../../../wire/stream.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { openVisitorBrowser, PHONE } from '../../support/visitor.ts'

const states = suite('every state of the hosted page')

/** Where pictures of every state are put, for people to look at; none are made without it. */
const PICTURES = process.env['PICTURES']

const SIZES: Record<string, BrowserContextOptions> = {
  desktop: { viewport: { width: 1_280, height: 800 } },
  phone: PHONE,
  turned: { ...PHONE, viewport: { width: 844, height: 390 } },
}
const ADDRESS: FarmMessage = { type: 'address', host: 'auth.assistant.example', secure: true, popup: false }

/** What the stream says, one list of messages a state. */
const STATES: Record<string, FarmMessage[]> = {
  starting: [{ type: 'state', state: 'starting' }],
  queue: [{ type: 'state', state: 'waiting', reason: 'queue', queue: { place: 3, minutes: 4 } }],
  lost: [{ type: 'state', state: 'waiting', reason: 'lost' }],
  live: [ADDRESS, { type: 'state', state: 'live' }],
  notice: [ADDRESS, { type: 'state', state: 'live' }, { type: 'notice', notice: 'outside', detail: 'ads.example' }],
  window: [
    { ...ADDRESS, popup: true },
    { type: 'state', state: 'live' },
  ],
  checking: [{ type: 'state', state: 'checking' }],
  trouble: [{ type: 'state', state: 'failed', reason: 'provider_unreachable', mayRetry: true }],
  over: [{ type: 'state', state: 'failed', reason: 'time_over' }],
  cancelled: [{ type: 'state', state: 'failed', reason: 'by_visitor' }],
  connected: [{ type: 'state', state: 'connected' }],
}

let world: HttpWorld
let browser: Browser
let axe: string
states.before(async () => {
  world = await startHttpWorld()
  await Apps.updateOne({ _id: 'app-one' }, { $set: { name: 'Acme Notes', primaryColor: '#0f6fde' } })
  browser = await openVisitorBrowser()
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
  if (PICTURES) await mkdir(PICTURES, { recursive: true })
})
states.after(async () => {
  await browser?.close()
  await world?.stop()
})

/** A picture as a browser of ours would send it. */
async function pictureOf({ width, height }: { width: number; height: number }): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width, height } })
  await page.setContent(
    '<body style="font:16px sans-serif;display:grid;place-items:center"><form><h1>Sign in</h1><input placeholder="E-mail"> <button>Continue</button></form>',
  )
  const jpeg = await page.screenshot({ type: 'jpeg' })
  await page.close()
  return frameMessage({ number: 1, width, height, jpeg })
}

/** The page on a stream that says what the test wants. */
async function open(options: BrowserContextOptions) {
  const context = await browser.newContext({ ...options, bypassCSP: true, reducedMotion: 'reduce' })
  const page = await context.newPage()
  let say: ((message: string | Buffer) => void) | undefined
  await page.route('**/start', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ json: { mobile: Boolean(options.isMobile) } })
      : route.continue(),
  )
  await page.routeWebSocket(/\/start\/stream/, (socket) => {
    say = (message) => socket.send(message)
  })
  const { url } = signLink({
    appId: 'app-one',
    appSecret: world.one.appSecret,
    baseUrl: world.url,
    userRef: 'someone',
    redirectUrl: 'https://acme.example/back',
  })
  await page.goto(url)
  const tell = await until('the page to listen', () => say)
  return { page, context, tell }
}

async function problemsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe)
  return page.evaluate(async () => {
    const run = (globalThis as unknown as { axe: { run(): Promise<{ violations: Violation[] }> } }).axe.run
    interface Violation {
      id: string
      impact: string
      nodes: { html: string; failureSummary: string }[]
    }
    const { violations } = await run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map((node) => `${node.html} ${node.failureSummary}`).join(' | ')}`)
  })
}

for (const [size, options] of Object.entries(SIZES)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    states(`is for everybody: ${size}, ${colorScheme}`, async () => {
      const { page, context, tell } = await open({ ...options, colorScheme })
      const stage = await page.locator('.stage').boundingBox()
      const frame = await pictureOf({ width: Math.round(stage?.width ?? 0), height: Math.round(stage?.height ?? 0) })
      const found: string[] = []
      const look = async (state: string) => {
        if (PICTURES) await page.screenshot({ path: `${PICTURES}/${state}-${size}-${colorScheme}.png` })
        for (const problem of await problemsOf(page)) found.push(`${state}: ${problem}`)
      }
      for (const [state, messages] of Object.entries(STATES)) {
        for (const message of messages) tell(JSON.stringify(message))
        const last = messages.findLast((message) => message.type === 'state')
        if (last?.type === 'state' && last.state === 'live') tell(frame)
        await page.locator(`main.start[data-state="${last?.type === 'state' ? last.state : ''}"]`).waitFor()
        if (state === 'live') {
          assert.is(await page.locator('[data-remote-host]').isVisible(), true, `the host is shown: ${size}`)
          await page.getByRole('button', { name: 'Cancel', exact: true }).click()
          await look('question')
          await page.getByRole('button', { name: 'Go on' }).click()
        }
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth > innerWidth)
        assert.is(overflow, false, `${state} is no wider than the screen: ${size}`)
        await look(state)
      }
      assert.equal(found, [])
      await context.close()
    })
  }
}

states.run()
