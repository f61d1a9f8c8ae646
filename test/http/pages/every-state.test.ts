import { mkdir } from 'node:fs/promises'
import type { Browser, BrowserContextOptions, Page } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Apps } from '../../../schemas/app/app.ts'
import { signLink } from '../../../sdk/src/index.ts'
import { frameMessages } from '../../../wire/frame.ts'
import type { FarmMessage } from '../../../wire/stream.ts'
import { BEAT_MS } from '../../../wire/stream-constants.ts'
import { seriousProblems } from '../../support/axe.ts'
import { type HttpWorld, startHttpWorld } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { openVisitorBrowser, PHONE } from '../../support/visitor.ts'

const states = suite('every state of the hosted page')

/** Where pictures of every state are put, for people to look at; none are made without it. */
const PICTURES = process.env['PICTURES']

const ALIVE = JSON.stringify({ type: 'alive' } satisfies FarmMessage)

const SIZES: Record<string, BrowserContextOptions> = {
  desktop: { viewport: { width: 1_280, height: 800 } },
  phone: PHONE,
  turned: { ...PHONE, viewport: { width: 844, height: 390 } },
}
const ADDRESS: FarmMessage = { type: 'address', host: 'auth.assistant.example', secure: true, popup: false }
const LIVE: FarmMessage[] = [ADDRESS, { type: 'state', state: 'live' }]

const rectangle = { x: 20, y: 60, width: 200, height: 30 }
const options = [
  { label: 'Austria', disabled: false, selected: true },
  { label: 'Belgium', disabled: true, selected: false },
  { label: 'Chile', disabled: false, selected: false, group: 'Far away' },
]
const picker = {
  id: 'field',
  label: 'Country',
  rectangle,
  multiple: false,
  options,
  value: '',
  min: '',
  max: '',
  step: '',
}
const dialog = { id: 'dialog', site: 'auth.assistant.example', message: '', value: '' }
const field = {
  id: 'field',
  hidden: false,
  value: 'ada@example.test',
  start: 16,
  end: 16,
  inputMode: 'email',
  autocomplete: 'email',
  enterKeyHint: 'next',
}
/** Nothing over the picture any more. */
const NOTHING_OVER: FarmMessage[] = [{ type: 'picker' }, { type: 'dialog-closed', id: dialog.id }]
/** By what a message is seen on the page. */
const SEEN: Partial<Record<FarmMessage['type'], string>> = {
  picker: '.picker',
  dialog: '.remote-dialog',
  focus: '[data-editable="true"]',
}

/** What the stream says, one list of messages a state. */
const STATES: Record<string, FarmMessage[]> = {
  starting: [{ type: 'state', state: 'starting' }],
  queue: [{ type: 'state', state: 'waiting', reason: 'queue', queue: { place: 3, minutes: 4 } }],
  lost: [{ type: 'state', state: 'waiting', reason: 'lost' }],
  live: LIVE,
  notice: [...LIVE, { type: 'notice', notice: 'outside', detail: 'ads.example' }],
  window: [...LIVE, { ...ADDRESS, popup: true }],
  typing: [...LIVE, { type: 'focus', editable: true, hidden: false, field }],
  list: [...LIVE, { type: 'picker', picker: { ...picker, kind: 'select' } }],
  choices: [...LIVE, { type: 'picker', picker: { ...picker, kind: 'select', multiple: true } }],
  suggestions: [...LIVE, { type: 'picker', picker: { ...picker, kind: 'suggestions' } }],
  date: [...LIVE, { type: 'picker', picker: { ...picker, kind: 'date' } }],
  colour: [...LIVE, { type: 'picker', picker: { ...picker, kind: 'color', value: '#12ab34' } }],
  alert: [...LIVE, { type: 'dialog', dialog: { ...dialog, kind: 'alert', message: 'Your code was sent.' } }],
  prompt: [...LIVE, { type: 'dialog', dialog: { ...dialog, kind: 'prompt', message: 'Your name?', value: 'Nobody' } }],
  leaving: [...LIVE, { type: 'dialog', dialog: { ...dialog, kind: 'beforeunload' } }],
  'basic-auth': [...LIVE, { type: 'dialog', dialog: { ...dialog, kind: 'sign-in' } }],
  checking: [{ type: 'state', state: 'checking' }],
  trouble: [{ type: 'state', state: 'failed', reason: 'provider_unreachable', mayRetry: true }],
  over: [{ type: 'state', state: 'failed', reason: 'time_over' }],
  cancelled: [{ type: 'state', state: 'failed', reason: 'by_visitor' }],
  connected: [{ type: 'state', state: 'connected' }],
}

let world: HttpWorld
let browser: Browser
states.before(async () => {
  world = await startHttpWorld()
  await Apps.updateOne({ _id: 'app-one' }, { $set: { name: 'Acme Notes', primaryColor: '#0f6fde' } })
  browser = await openVisitorBrowser()
  if (PICTURES) await mkdir(PICTURES, { recursive: true })
})
states.after(async () => {
  await browser?.close()
  await world?.stop()
})

/** A picture as a browser of ours would send it. */
async function pictureOf({ width, height }: { width: number; height: number }): Promise<Buffer[]> {
  const page = await browser.newPage({ viewport: { width, height } })
  await page.setContent(
    '<body style="font:16px sans-serif;display:grid;place-items:center"><form><h1>Sign in</h1><input placeholder="E-mail"> <button>Continue</button></form>',
  )
  const jpeg = await page.screenshot({ type: 'jpeg' })
  await page.close()
  return [...frameMessages({ number: 1, width, height, jpeg })].map((message) => Buffer.from(message))
}

/** The page on a stream that says what the test wants. */
async function open(
  options: BrowserContextOptions,
  prepare: (page: Page) => Promise<unknown> = () => Promise.resolve(),
) {
  const context = await browser.newContext({ ...options, bypassCSP: true, reducedMotion: 'reduce' })
  const page = await context.newPage()
  let say: ((message: string | Buffer) => void) | undefined
  await page.route('**/start', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ json: { mobile: Boolean(options.isMobile) } })
      : route.continue(),
  )
  let hangUp = (): Promise<void> => Promise.resolve()
  await page.routeWebSocket(/\/start\/stream/, (socket) => {
    say = (message) => socket.send(message)
    const beat = setInterval(() => socket.send(ALIVE), BEAT_MS)
    socket.onClose(() => clearInterval(beat))
    page.on('close', () => clearInterval(beat))
    hangUp = () => {
      clearInterval(beat)
      say = undefined
      return socket.close()
    }
  })
  const { url } = signLink({
    appId: 'app-one',
    appSecret: world.one.appSecret,
    baseUrl: world.url,
    userRef: 'someone',
    redirectUrl: 'https://acme.example/back',
  })
  await prepare(page)
  await page.goto(url)
  const listens = () => until('the page to listen', () => say)
  await listens()
  return { page, context, tell: (message: string | Buffer) => say?.(message), hangUp: () => hangUp(), listens }
}

states('what takes longer than usual says so', async () => {
  const { page, context, tell } = await open({}, (opening) => opening.clock.install())
  for (const state of ['checking', 'starting'] as const) {
    tell(JSON.stringify({ type: 'state', state }))
    await page.locator(`main.start[data-state="${state}"]`).waitFor()
    for (let passed = 0; passed < 25_000; passed += BEAT_MS) {
      tell(ALIVE)
      await page.clock.runFor(BEAT_MS)
    }
    await page.getByRole('heading', { name: 'This takes longer than usual' }).waitFor()
    assert.is(await page.locator('main.start').getAttribute('data-state'), state)
  }
  await context.close()
})

for (const [size, options] of Object.entries(SIZES)) {
  for (const colorScheme of ['light', 'dark'] as const) {
    states(`is for everybody: ${size}, ${colorScheme}`, async () => {
      const { page, context, tell, hangUp, listens } = await open({ ...options, colorScheme })
      const stage = await page.locator('.stage').boundingBox()
      const frame = await pictureOf({ width: Math.round(stage?.width ?? 0), height: Math.round(stage?.height ?? 0) })
      const found: string[] = []
      const look = async (state: string) => {
        if (PICTURES) await page.screenshot({ path: `${PICTURES}/${state}-${size}-${colorScheme}.png` })
        for (const problem of await seriousProblems(page)) found.push(`${state}: ${problem}`)
      }
      for (const [state, messages] of Object.entries(STATES)) {
        for (const message of [...NOTHING_OVER, ...messages]) tell(JSON.stringify(message))
        const last = messages.findLast((message) => message.type === 'state')
        if (last?.type === 'state' && last.state === 'live') frame.forEach(tell)
        await page.locator(`main.start[data-state="${last?.type === 'state' ? last.state : ''}"]`).waitFor()
        for (const { type } of messages)
          await page
            .locator(SEEN[type] ?? 'main')
            .first()
            .waitFor({ state: 'attached' })
        if (state === 'live') {
          assert.is(await page.locator('[data-remote-host]').isVisible(), true, `the host is shown: ${size}`)
          await page.getByRole('button', { name: 'Cancel', exact: true }).click()
          await look('question')
          await page.getByRole('button', { name: 'Go on' }).click()
        }
        assert.ok(
          (await widthOf(page)) <= (options.viewport?.width ?? 0),
          `${state} is no wider than the screen: ${size}`,
        )
        await look(state)
        if (state === 'live') {
          await hangUp()
          await page.locator('main.start[data-reason="offline"]').waitFor()
          await look('offline')
          await listens()
        }
      }
      assert.equal(found, [])
      await context.close()
    })
  }
}

for (const locale of ['en', 'de']) {
  states(`fits the narrowest phones: ${locale}`, async () => {
    const viewport = { width: 320, height: 568 }
    const { page, context, tell } = await open({ ...PHONE, viewport, locale })
    for (const name of ['queue', 'typing', 'date', 'basic-auth', 'trouble']) {
      for (const message of STATES[name] ?? []) tell(JSON.stringify(message))
      if (name === 'typing') (await pictureOf(viewport)).forEach(tell)
      const last = STATES[name]?.findLast((message) => message.type === 'state')
      await page.locator(`main.start[data-state="${last?.type === 'state' ? last.state : ''}"]`).waitFor()
      assert.ok((await widthOf(page)) <= viewport.width, `${name} is ${await widthOf(page)} wide`)
    }
    await context.close()
  })
}

/** A phone shows a page that is too wide smaller: its window is no measure then. */
const widthOf = (page: Page): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth)

states.run()
