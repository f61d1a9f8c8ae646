import { once } from 'node:events'
import { WebSocket } from 'ws'
import { launchBrowser } from '../browser-farm/launch-browser.ts'
import { systemClock } from '../core/clock.ts'
import { startOwnSite } from '../test/browser-farm/own-site.ts'
import { type FarmWorld, startFarmWorld } from '../test/browser-farm/world.ts'
import { FRAME_HEADER_BYTES } from '../wire/stream-constants.ts'
import { median, printRow, rounded } from './row.ts'

/**
 * From a click to the frame that shows what it did: through page protocol, relay and farm node (a process of its own), against the
 * browser's debugging protocol used directly. The same page in the same browser with the same flags; the two take turns.
 */
const CLICKS = 150
const WARM_UP = 20
const VIEWPORT = { width: 1_280, height: 720 }
/** A person's pace; without a pause the browser would still be busy with the picture before. */
const PAUSE_MS = 60
const GOAL = 2
const PAGE = `<style>body{margin:0;height:100vh;background:#fff}body.on{background:#cde}</style>
<h1>Click</h1><script>addEventListener('mousedown', () => document.body.classList.toggle('on'))</script>`

const clock = systemClock()

/** Clicks once; resolves with the picture that follows. */
type Click = () => Promise<Buffer>

const at = { x: 400, y: 300 }

async function openDirect(world: FarmWorld, url: string): Promise<{ click: Click; stop(): Promise<void> }> {
  const browser = await launchBrowser(world.runtime.config)
  const page = await browser.newPage({ viewport: VIEWPORT })
  await page.goto(url)
  const cdp = await page.context().newCDPSession(page)
  let arrived: (jpeg: Buffer) => void = () => undefined
  cdp.on('Page.screencastFrame', ({ data, sessionId }) => {
    void cdp.send('Page.screencastFrameAck', { sessionId })
    arrived(Buffer.from(data, 'base64'))
  })
  await cdp.send('Page.startScreencast', { format: 'jpeg', quality: 80 })
  const dispatch = (type: 'mousePressed' | 'mouseReleased', buttons: number): void => {
    // The last one may meet a browser that is closing.
    cdp.send('Input.dispatchMouseEvent', { ...at, type, button: 'left', buttons, clickCount: 1 }).catch(() => undefined)
  }
  return {
    click: async () => {
      const frame = new Promise<Buffer>((resolve) => {
        arrived = resolve
      })
      dispatch('mousePressed', 1)
      const jpeg = await frame
      arrived = () => undefined
      dispatch('mouseReleased', 0)
      return jpeg
    },
    stop: () => browser.close(),
  }
}

async function openStream(world: FarmWorld): Promise<{ click: Click; stop(): void }> {
  const opened = await fetch(world.link({ userRef: 'bench' }), { redirect: 'manual' })
  const cookie = String(opened.headers.get('set-cookie')).split(';')[0] ?? ''
  const html = await (await fetch(`${world.baseUrl}/start`, { headers: { cookie } })).text()
  const flow = /data-flow="([^"]+)"/.exec(html)?.[1]
  const begun = await fetch(`${world.baseUrl}/start`, {
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json' },
    body: JSON.stringify({ flow, viewport: { ...VIEWPORT, deviceScaleFactor: 1, mobile: false } }),
  })
  if (!begun.ok) throw new Error(await begun.text())
  const socket = new WebSocket(`${world.baseUrl.replace('http', 'ws')}/start/stream?flow=${flow}`, {
    headers: { cookie, origin: world.baseUrl },
  })
  const send = (message: object): void => socket.send(JSON.stringify(message))
  let arrived: (jpeg: Buffer) => void = () => undefined
  const live = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      if (!isBinary) return String(data).includes('"live"') && resolve()
      send({ type: 'ack', frame: data.readUInt32BE(0) })
      arrived(data.subarray(FRAME_HEADER_BYTES))
    })
  })
  await once(socket, 'open')
  await live
  const mouse = { type: 'mouse', ...at, button: 'left', clicks: 1, modifiers: 0 }
  return {
    click: async () => {
      const frame = new Promise<Buffer>((resolve) => {
        arrived = resolve
      })
      send({ ...mouse, action: 'down', buttons: 1 })
      const jpeg = await frame
      arrived = () => undefined
      send({ ...mouse, action: 'up', buttons: 0 })
      return jpeg
    },
    stop: () => socket.terminate(),
  }
}

/** Milliseconds from the click to a picture that differs from the one before. */
function timed(click: Click): () => Promise<number> {
  let before: Uint8Array = Buffer.alloc(0)
  return async () => {
    const start = clock.elapsed()
    const jpeg = await click()
    const took = clock.elapsed() - start
    if (jpeg.equals(before)) throw new Error('the picture did not change')
    before = jpeg
    return took
  }
}

const p95 = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0

const site = await startOwnSite({ pages: () => ({ '/': PAGE }) })
const world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '1' } })
try {
  await world.farmProcess()
  const stream = await openStream(world)
  const direct = await openDirect(world, site.url)
  const measures = { ours: [] as number[], floor: [] as number[] }
  const clickStream = timed(stream.click)
  const clickDirect = timed(direct.click)
  for (let index = 0; index < WARM_UP + CLICKS; index++) {
    await clock.sleep(PAUSE_MS)
    const ours = await clickStream()
    await clock.sleep(PAUSE_MS)
    const floor = await clickDirect()
    if (index < WARM_UP) continue
    measures.ours.push(ours)
    measures.floor.push(floor)
  }
  for (const [name, of] of [
    ['median', median],
    ['p95', p95],
  ] as const) {
    const [ours, floor] = [of(measures.ours), of(measures.floor)]
    printRow({
      what: `click to changed frame, ${name}`,
      ours: `${rounded(ours)} ms`,
      floor: `${rounded(floor)} ms`,
      ratio: ours / floor,
      goal: { atMost: GOAL },
    })
  }
  stream.stop()
  await direct.stop()
} finally {
  await world.stop()
  await site.stop()
}
