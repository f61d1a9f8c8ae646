import type { BrowserContext, CDPSession, Page } from 'playwright'
import type { Clock, Timer } from '../core/clock.ts'
import { parseUrl } from '../core/parse-url.ts'
import type { ProviderProfile } from '../provider/profile.ts'
import type { Viewport } from '../schemas/lease/lease.ts'
import type { FarmMessage, Notice, PageMessage } from '../wire/stream.ts'
import { resized, showDevicePixels } from './device-pixels.ts'
import { createDialogs, passDialogsOn } from './dialogs.ts'
import { type Fields, watchFields } from './fields.ts'
import { BEST_QUALITY } from './link-quality.ts'
import { askForNoPasskeys, guardPage, keepInside } from './page-guard.ts'
import { createPageInput } from './page-input.ts'
import type { Picture } from './viewer.ts'

/** JPEG quality of a picture at rest. */
const AT_REST = 92
/** Frames that follow one another faster are movement; after so long without any the picture is at rest (machine time). */
const MOVING_MS = 150
const REST_MS = 400
/** How soon after an input the remote focus is looked at, for the page to have reacted. */
const FOCUS_MS = 120
const START_AGAIN_MS = 25
/** Windows of one lease at a time, the first included. */
const MOST_WINDOWS = 8

interface ScreenEvents {
  onFrame: (frame: Picture) => void
  tell: (message: FarmMessage) => void
  onNotice: (notice: Notice, detail?: string) => void
  /** A page died, or the last one was closed. */
  onLost: () => void
}

/** The pages of one context as one screen: the newest page is the one that is shown; when it closes, its opener is again. */
export interface Screen {
  /** Frames flow only while somebody watches; each call with `true` brings one at once. */
  setWatched(watching: boolean): void
  /** JPEG quality of a moving picture. */
  setQuality(quality: number): void
  input(message: PageMessage): void
  /** Every page may be left from now on: nobody is asked. */
  leave(): void
}

interface ShownPage {
  page: Page
  cdp: CDPSession
  fields: Fields
  input: (message: PageMessage) => void
}

export function createScreen({
  context,
  profile,
  viewport,
  clock,
  ...events
}: ScreenEvents & {
  context: BrowserContext
  profile: ProviderProfile
  viewport: Viewport
  clock: Clock
}): Screen {
  const scale = viewport.deviceScaleFactor
  const { tell } = events
  const dialogs = createDialogs({ clock, tell })
  const pages: ShownPage[] = []
  let size = viewport
  let shown: ShownPage | undefined
  let watching = false
  let focusTimer: Timer | undefined
  let restTimer: Timer | undefined
  let moving = BEST_QUALITY
  let quality = moving
  let lastFrameAt = 0

  const start = async (wanted: ShownPage): Promise<void> => {
    while (shown === wanted && watching && !wanted.page.isClosed()) {
      try {
        await wanted.cdp.send('Page.startScreencast', { format: 'jpeg', quality })
        return
      } catch {
        // Between two documents a page refuses.
        await clock.sleep(START_AGAIN_MS)
      }
    }
  }
  const stop = (cdp: CDPSession): void => void cdp.send('Page.stopScreencast').catch(() => undefined)
  const showAgain = (wanted: number): void => {
    quality = wanted
    if (!shown || !watching) return
    stop(shown.cdp)
    void start(shown)
  }
  /** A picture at rest is sent once more, in full quality; where it moves again, speed matters more. */
  const noteFrame = (): void => {
    const now = clock.elapsed()
    const moves = now - lastFrameAt < MOVING_MS
    lastFrameAt = now
    if (quality === AT_REST) {
      if (moves) showAgain(moving)
      return
    }
    restTimer?.cancel()
    restTimer = clock.timer(REST_MS, () => showAgain(AT_REST))
  }
  const show = (next: ShownPage | undefined): void => {
    if (shown === next) return
    if (shown && watching) stop(shown.cdp)
    shown = next
    tell({ type: 'picker' })
    if (!next) return
    void next.page.bringToFront().catch(() => undefined)
    if (watching) void start(next)
    tellAddress()
    lookAtFocus()
  }
  const tellAddress = (): void => {
    const url = parseUrl(shown?.page.url() ?? '')
    const isWeb = url?.protocol === 'http:' || url?.protocol === 'https:'
    tell({
      type: 'address',
      host: isWeb ? url.host : '',
      secure: url?.protocol === 'https:',
      popup: pages.length > 1 && shown !== pages[0],
    })
  }
  const lookAtFocus = (): void => {
    focusTimer?.cancel()
    focusTimer = clock.timer(FOCUS_MS, () => {
      if (shown && watching) void shown.fields.focus().then(tell)
    })
  }
  const add = async (page: Page): Promise<void> => {
    guardPage({ page, profile, isPopup: pages.length > 0, notify: events.onNotice, clock })
    page.on('crash', events.onLost)
    page.on('domcontentloaded', lookAtFocus)
    page.on('framenavigated', (frame) => {
      if (shown?.page === page && frame === page.mainFrame()) tellAddress()
    })
    const cdp = await context.newCDPSession(page)
    passDialogsOn({ page, dialogs })
    // All at once: a page that is opening takes its time for each, and the visitor waits for the last.
    const [fields] = await Promise.all([
      watchFields({
        page,
        cdp,
        clock,
        tell: (message) => shown?.page === page && tell(message),
        onFocus: lookAtFocus,
      }),
      keepInside({ cdp, page, profile, dialogs, notify: events.onNotice }),
      showDevicePixels(cdp, size),
      askForNoPasskeys(cdp),
    ])
    const added = { page, cdp, fields, input: createPageInput({ cdp, fields, dialogs, scale, clock, tell }) }
    cdp.on('Page.screencastFrame', ({ data, metadata, sessionId }) => {
      // Answered at once: the browser drops frames that wait for this, and the last change must not be among them.
      void cdp.send('Page.screencastFrameAck', { sessionId }).catch(() => undefined)
      const [width, height] = [metadata.deviceWidth, metadata.deviceHeight].map((side) => Math.round(side / scale))
      // While a screen changes its size there are pictures of neither.
      if (shown !== added || width !== size.width || height !== size.height) return
      noteFrame()
      events.onFrame({ width, height, jpeg: Buffer.from(data, 'base64') })
    })
    page.on('close', () => {
      pages.splice(pages.indexOf(added), 1)
      if (shown === added) show(pages.at(-1))
      if (pages.length === 0) events.onLost()
    })
    if (page.isClosed()) return
    pages.push(added)
    show(added)
  }
  const refuse = async (page: Page): Promise<void> => {
    await page.close()
    // It has taken the focus of the browser with it.
    await shown?.page.bringToFront()
  }
  const resize = ({ width, height }: Viewport): void => {
    size = resized(viewport, { width, height })
    for (const each of pages) {
      void showDevicePixels(each.cdp, size)
        .then(() => {
          if (shown === each) showAgain(moving)
          return each.fields.follow()
        })
        .catch(() => undefined)
    }
  }
  context.on('page', (page) => {
    // Each has a process and a share of this one: no sign-in needs so many.
    const added = context.pages().length > MOST_WINDOWS ? refuse(page) : add(page)
    void added.catch(() => undefined)
  })

  return {
    setWatched: (wanted) => {
      // A new viewer needs a first frame even where another one has been watching.
      if (shown && watching) stop(shown.cdp)
      watching = wanted
      restTimer?.cancel()
      quality = moving
      if (shown && watching) void start(shown)
      if (watching) lookAtFocus()
    },
    setQuality: (wanted) => {
      const isShown = quality === moving
      moving = wanted
      if (isShown && quality !== wanted) showAgain(wanted)
    },
    input: (message) => {
      if (!shown) return
      if (message.type === 'close-window') {
        if (pages.length > 1) void shown.page.close().catch(() => undefined)
        return
      }
      if (message.type === 'viewport') return resize(message.viewport)
      shown.input(message)
      if (message.type !== 'mouse' || message.action === 'up') lookAtFocus()
    },
    leave: dialogs.stop,
  }
}
