import type { Browser, BrowserContext, BrowserContextOptions } from 'playwright'
import type { Viewport } from '../schemas/lease/lease.ts'

/** The state that a context begins with, as Playwright stores it. */
export type BrowserState = Exclude<BrowserContextOptions['storageState'], string | undefined>

/** A phone of the browser's own version: a page made for phones is what fits a phone's screen. */
const phoneAgent = (version: string): string =>
  `Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version.split('.')[0]}.0.0.0 Mobile Safari/537.36`

/**
 * A caret that does not blink: each blink is a picture, and a form at rest is to cost nothing. Handed over as a style sheet of the document, which
 * no content policy of the page forbids; browsers that do not know the property blink on. Runs in the page.
 */
function stillCaret(): void {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('html { caret-animation: manual !important }')
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet]
}

/** What a visitor's pages live in: nothing is downloaded, no permission is given. */
export async function openContext({
  browser,
  viewport: { width, height, deviceScaleFactor, mobile },
  proxy,
  state,
}: {
  browser: Browser
  viewport: Viewport
  proxy: string
  state: BrowserState | undefined
}): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width, height },
    screen: { width, height },
    deviceScaleFactor,
    isMobile: mobile,
    hasTouch: mobile,
    ...(mobile && { userAgent: phoneAgent(browser.version()) }),
    ...(state && { storageState: state }),
    proxy: { server: proxy },
    acceptDownloads: false,
    serviceWorkers: 'block',
  })
  // An empty list refuses every permission without asking.
  await context.grantPermissions([])
  await context.addInitScript(stillCaret)
  return context
}
