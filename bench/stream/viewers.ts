import { once } from 'node:events'
import type { Browser } from 'playwright'
import { WebSocket } from 'ws'
import { showDevicePixels } from '../../browser-farm/device-pixels.ts'
import { launchBrowser } from '../../browser-farm/launch-browser.ts'
import { BEST_QUALITY } from '../../browser-farm/link-quality.ts'
import type { FarmWorld } from '../../test/browser-farm/world.ts'
import { createFrameReader } from '../../wire/frame.ts'

/** Whoever looks at a remote page, however its pictures come. */
export interface Viewer {
  /** Clicks once; resolves with the picture that follows. */
  click(): Promise<Buffer>
  /** Presses a key that types something. */
  press(key: string): void
  /** Resolves with the next picture. */
  next(): Promise<Buffer>
  /** What has come so far: pictures, and bytes of everything. */
  received(): { frames: number; bytes: number }
  stop(): Promise<void>
}

interface Opened {
  /** Device pixels to a CSS pixel. */
  scale: number
}

const VIEWPORT = { width: 1_280, height: 720, mobile: false }
const AT = { x: 400, y: 300 }
/** RFC 6455: how a browser closes the sockets of a page that is closed. */
const GOING_AWAY = 1001

/** With the flags of the service's own. */
export const launchDirect = (): Promise<Browser> => launchBrowser({ CHROMIUM_PATH: process.env['CHROMIUM_PATH'] })

/** The browser's debugging protocol, with the pixels of the service's own; in a browser that was launched before, if that is given. */
export async function openDirect({
  scale,
  url,
  browser: launched,
}: Opened & { url: string; browser?: Browser }): Promise<Viewer> {
  const browser = launched ?? (await launchDirect())
  const page = await browser.newPage({ viewport: VIEWPORT, deviceScaleFactor: scale })
  await page.goto(url)
  const cdp = await page.context().newCDPSession(page)
  await showDevicePixels(cdp, { ...VIEWPORT, deviceScaleFactor: scale })
  const total = { frames: 0, bytes: 0 }
  let arrived: (jpeg: Buffer) => void = () => undefined
  const next = (): Promise<Buffer> =>
    new Promise((resolve) => {
      arrived = resolve
    })
  cdp.on('Page.screencastFrame', ({ data, sessionId }) => {
    // The last one may meet a browser that is closing.
    cdp.send('Page.screencastFrameAck', { sessionId }).catch(() => undefined)
    const jpeg = Buffer.from(data, 'base64')
    total.frames++
    total.bytes += jpeg.byteLength
    arrived(jpeg)
  })
  await cdp.send('Page.startScreencast', { format: 'jpeg', quality: BEST_QUALITY })
  const at = { x: AT.x * scale, y: AT.y * scale }
  const dispatch = (type: 'mousePressed' | 'mouseReleased', buttons: number): void => {
    cdp.send('Input.dispatchMouseEvent', { ...at, type, button: 'left', buttons, clickCount: 1 }).catch(() => undefined)
  }
  return {
    click: async () => {
      const frame = next()
      dispatch('mousePressed', 1)
      const jpeg = await frame
      arrived = () => undefined
      dispatch('mouseReleased', 0)
      return jpeg
    },
    next,
    press: (key) => void page.keyboard.press(key),
    received: () => ({ ...total }),
    stop: () => browser.close(),
  }
}

/** The stream, through page protocol, relay and farm node; `leave` closes its page. */
export async function openStream({
  world,
  scale,
  userRef = `bench-${scale}`,
}: Opened & { world: Pick<FarmWorld, 'baseUrl' | 'link'>; userRef?: string }): Promise<Viewer & { leave(): void }> {
  const opened = await fetch(world.link({ userRef }), { redirect: 'manual' })
  const cookie = String(opened.headers.get('set-cookie')).split(';')[0] ?? ''
  const html = await (await fetch(`${world.baseUrl}/start`, { headers: { cookie } })).text()
  const flow = /data-flow="([^"]+)"/.exec(html)?.[1]
  const post = (path: string, body: object): Promise<Response> =>
    fetch(`${world.baseUrl}${path}`, {
      method: 'POST',
      headers: { cookie, origin: world.baseUrl, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  const begun = await post('/start', { flow, viewport: { ...VIEWPORT, deviceScaleFactor: scale } })
  if (!begun.ok) throw new Error(await begun.text())
  const socket = new WebSocket(`${world.baseUrl.replace('http', 'ws')}/start/stream?flow=${flow}`, {
    headers: { cookie, origin: world.baseUrl },
  })
  const send = (message: object): void => socket.send(JSON.stringify(message))
  const total = { frames: 0, bytes: 0 }
  let arrived: (jpeg: Buffer) => void = () => undefined
  const next = (): Promise<Buffer> =>
    new Promise((resolve) => {
      arrived = resolve
    })
  let isLive = false
  const read = createFrameReader(({ number, jpeg }) => {
    send({ type: 'ack', frame: number })
    // What came before is not the login page.
    if (!isLive) return
    total.frames++
    arrived(Buffer.from(jpeg.buffer))
  })
  const live = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer, isBinary: boolean) => {
      total.bytes += data.byteLength
      if (!isBinary) {
        if (!String(data).includes('"live"')) return
        isLive = true
        return resolve()
      }
      read(data)
    })
  })
  await once(socket, 'open')
  await live
  const mouse = { type: 'mouse', ...AT, button: 'left', clicks: 1, modifiers: 0 }
  return {
    click: async () => {
      const frame = next()
      send({ ...mouse, action: 'down', buttons: 1 })
      const jpeg = await frame
      arrived = () => undefined
      send({ ...mouse, action: 'up', buttons: 0 })
      return jpeg
    },
    next,
    press: (key) => {
      const code = `Key${key.toUpperCase()}`
      const pressed = { type: 'key', key, code, keyCode: code.charCodeAt(3), location: 0, repeat: false, modifiers: 0 }
      send({ ...pressed, action: 'down', text: key })
      send({ ...pressed, action: 'up' })
    },
    received: () => ({ ...total }),
    leave: () => socket.close(GOING_AWAY),
    stop: async () => {
      socket.terminate()
      await post('/start/cancel', { flow })
    },
  }
}
