import type { Frame, Page, Request } from 'playwright'
import { SECOND } from '../core/clock.ts'
import { parseUrl } from '../core/parse-url.ts'
import { hostAllowed, type ProviderProfile } from '../provider/profile.ts'
import { WORDS } from './words.ts'

/** Words of a page's dialog that the visitor is shown. */
const LONGEST_DIALOG = 300
/** The browser's own page where a page could not be loaded. */
const ERROR_PAGE = 'chrome-error:'
/** What a page may be besides the web: it has nothing of this machine in it. */
const HARMLESS = ['about:', 'blob:']

interface Guard {
  page: Page
  profile: ProviderProfile
  isPopup: boolean
  notify: (message: string) => void
}

/**
 * What a page may not do (docs/security.md, The network): leave the profile's hosts, download, ask for a file, hold everything up with a dialog. The proxy
 * is what keeps the network shut; here the visitor is told, and taken back to where they were.
 */
export function guardPage(guard: Guard): void {
  const { page, notify } = guard
  watchAddress(guard)
  page.on('dialog', (dialog) => {
    // Leaving a page is what the visitor asked for; every other question is answered with no.
    if (dialog.type() === 'beforeunload') return void dialog.accept().catch(() => undefined)
    notify(WORDS.dialog(dialog.message().slice(0, LONGEST_DIALOG)))
    void dialog.dismiss().catch(() => undefined)
  })
  page.on('download', (download) => {
    notify(WORDS.noDownload)
    void download.cancel().catch(() => undefined)
  })
  // Listening is what keeps the chooser from opening.
  page.on('filechooser', () => notify(WORDS.noUpload))
}

/** A page that was left is still in the browser's memory; longer means that something else came in between (machine time). */
const BACK_TIMEOUT_MS = 5 * SECOND

function watchAddress({ page, profile, isPopup, notify }: Guard): void {
  let failed: URL | null = null
  const isOutside = (url: URL): boolean =>
    url.protocol === 'http:' || url.protocol === 'https:'
      ? !hostAllowed(profile, url.hostname)
      : !HARMLESS.includes(url.protocol)
  const goBack = async (): Promise<void> => {
    const answer = await page.goBack({ timeout: BACK_TIMEOUT_MS, waitUntil: 'commit' }).catch(() => undefined)
    if (answer === null && isPopup) return page.close()
    // Another navigation came in between: nobody is left standing outside.
    const url = parseUrl(page.url())
    if (url && isOutside(url)) await page.goto(profile.loginUrl, { waitUntil: 'commit' })
  }
  const leave = (message: string): void => {
    notify(message)
    void goBack().catch(() => undefined)
  }
  const judge = (frame: Frame): void => {
    const url = parseUrl(frame.url())
    if (frame !== page.mainFrame() || !url) return
    const { protocol, hostname } = url
    if (protocol === ERROR_PAGE) {
      const outside = failed && !hostAllowed(profile, failed.hostname)
      leave(outside ? WORDS.outside(failed?.hostname ?? '') : WORDS.unanswered)
    } else if (isOutside(url)) leave(WORDS.outside(protocol.startsWith('http') ? hostname : protocol))
  }
  page.on('requestfailed', (request) => {
    failed = addressOf(request, page) ?? failed
  })
  page.on('framenavigated', judge)
  // A second window is heard of only when it has arrived somewhere.
  judge(page.mainFrame())
}

/** Where a request takes the page itself, if it does. */
function addressOf(request: Request, page: Page): URL | null {
  if (!request.isNavigationRequest()) return null
  try {
    return request.frame() === page.mainFrame() ? new URL(request.url()) : null
  } catch {
    // A request of a page that is being replaced has no frame.
    return null
  }
}
