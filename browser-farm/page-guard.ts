import type { Page, Request } from 'playwright'
import { hostAllowed, type ProviderProfile } from '../provider/profile.ts'
import { WORDS } from './words.ts'

/** Words of a page's dialog that the visitor is shown. */
const LONGEST_DIALOG = 300

/**
 * What a page may not do (SECURITY.md): leave the profile's hosts, download, ask for a file, hold everything up with a dialog. The proxy
 * is what keeps the network shut; here the visitor is told, and taken back to where they were.
 */
export function guardPage({
  page,
  profile,
  isPopup,
  notify,
}: {
  page: Page
  profile: ProviderProfile
  isPopup: boolean
  notify: (message: string) => void
}): void {
  const goBack = async (): Promise<void> => {
    if (isPopup && !(await page.goBack())) await page.close()
    else if (!isPopup && !(await page.goBack())) await page.goto(profile.loginUrl)
  }
  const outside = (host: string): void => {
    notify(WORDS.outside(host))
    void goBack().catch(() => undefined)
  }
  const watch = (request: Request): void => {
    const url = navigationOf(request, page)
    if (url && !hostAllowed(profile, url.hostname)) outside(url.hostname)
  }
  page.on('requestfailed', watch)
  page.on('response', (response) => watch(response.request()))
  page.on('framenavigated', (frame) => {
    if (frame === page.mainFrame() && !mayShow(frame.url(), profile)) outside(new URL(frame.url()).protocol)
  })
  page.on('dialog', (dialog) => {
    // Leaving a page is the visitor's own wish; every other question is answered with no.
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

/** Where a request takes the page itself, if it does. */
function navigationOf(request: Request, page: Page): URL | null {
  if (!request.isNavigationRequest()) return null
  try {
    return request.frame() === page.mainFrame() ? new URL(request.url()) : null
  } catch {
    // A request of a page that is being replaced has no frame.
    return null
  }
}

function mayShow(address: string, profile: ProviderProfile): boolean {
  const { protocol, hostname } = new URL(address)
  if (protocol === 'http:' || protocol === 'https:') return hostAllowed(profile, hostname)
  // The browser's own error page stands where a page could not be loaded; nothing of this machine is in it.
  return ['about:', 'blob:', 'chrome-error:'].includes(protocol)
}
