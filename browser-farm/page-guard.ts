import type { CDPSession, Frame, Page, Request, Response } from 'playwright'
import { type Clock, SECOND } from '../core/clock.ts'
import { parseUrl } from '../core/parse-url.ts'
import { hostAllowed, type ProviderProfile } from '../provider/profile.ts'
import type { Notice } from '../wire/stream.ts'
import type { Dialogs } from './dialogs.ts'

/** The browser's own page where a page could not be loaded. */
const ERROR_PAGE = 'chrome-error:'
/** What a page may be besides the web: it has nothing of this machine in it. */
const HARMLESS = ['about:', 'blob:']

interface Guard {
  page: Page
  profile: ProviderProfile
  isPopup: boolean
  notify: Notify
  clock: Clock
}

/** Pages whose visitor did not say who they are to a server that asked: its refusal is no news to them. */
const declined = new WeakSet<Page>()

type Notify = (notice: Notice, detail?: string) => void

/**
 * What a page may not do (docs/security.md, The network): leave the profile's hosts, download, ask for a file. The proxy
 * is what keeps the network shut; here the visitor is told, and taken back to where they were.
 */
export function guardPage(guard: Guard): void {
  const { page, notify } = guard
  watchAddress(guard)
  page.on('download', (download) => {
    notify('no_download')
    void download.cancel().catch(() => undefined)
  })
  // Listening is what keeps the chooser from opening.
  page.on('filechooser', () => notify('no_upload'))
}

const isOutside = (url: URL, profile: ProviderProfile): boolean =>
  url.protocol === 'http:' || url.protocol === 'https:'
    ? !hostAllowed(profile, url.hostname)
    : !HARMLESS.includes(url.protocol)

/**
 * Stops what would take the page itself to another host, redirects included, before it happens: the visitor stays where they are, with
 * what they have typed. A second window's first address is too early for this; it is closed when it has arrived (`guardPage`).
 */
export async function keepInside({
  cdp,
  page,
  profile,
  dialogs,
  notify,
}: {
  cdp: CDPSession
  page: Page
  dialogs: Dialogs
  profile: ProviderProfile
  notify: Notify
}): Promise<void> {
  const { frameTree } = await cdp.send('Page.getFrameTree')
  cdp.on('Fetch.requestPaused', ({ requestId, request, frameId }) => {
    const url = parseUrl(request.url)
    const leaves = url !== null && frameId === frameTree.frame.id && isOutside(url, profile)
    if (leaves) notify('outside', url.hostname)
    const answer = leaves
      ? cdp.send('Fetch.failRequest', { requestId, errorReason: 'Aborted' })
      : cdp.send('Fetch.continueRequest', { requestId })
    // A page that was closed meanwhile asks for nothing any more.
    answer.catch(() => undefined)
  })
  cdp.on('Fetch.authRequired', ({ requestId, frameId, authChallenge: { origin } }) => {
    const site = parseUrl(origin)?.host ?? origin
    void dialogs.ask(page, { kind: 'sign-in', site, message: '', value: '' }).then((answer) => {
      const { accepted = false, text: username = '', password = '' } = answer ?? {}
      if (!accepted && frameId === frameTree.frame.id) declined.add(page)
      const authChallengeResponse = accepted
        ? ({ response: 'ProvideCredentials', username, password } as const)
        : ({ response: 'CancelAuth' } as const)
      return cdp.send('Fetch.continueWithAuth', { requestId, authChallengeResponse }).catch(() => undefined)
    })
  })
  const patterns = [{ resourceType: 'Document', requestStage: 'Request' } as const]
  await cdp.send('Fetch.enable', { patterns, handleAuthRequests: true })
}

/**
 * Chromium asks for a passkey in a window of its own, which nobody sees and which takes every key and click from the page. Where it
 * is told to use devices made for tests, and there are none of those, it waits without a window.
 */
export const askForNoPasskeys = (cdp: CDPSession): Promise<unknown> => cdp.send('WebAuthn.enable')

/** A page that was left is still in the browser's memory; longer means that something else came in between (machine time). */
const BACK_TIMEOUT_MS = 5 * SECOND

/** Between two tries of a way back that is not there yet (machine ms). */
const BACK_AGAIN_MS = 20

/** Undefined where that does not come about in time. Null: there is nothing to go back to. */
async function stepBack(page: Page, clock: Clock): Promise<Response | null | undefined> {
  const end = clock.elapsed() + BACK_TIMEOUT_MS
  for (;;) {
    try {
      return await page.goBack({ timeout: Math.max(1, end - clock.elapsed()), waitUntil: 'commit' })
    } catch (error) {
      // The page has arrived, and the process that shows it is only just taking over from the one before.
      if (!String(error).includes('Not attached to an active page') || clock.elapsed() >= end) return undefined
      await clock.sleep(BACK_AGAIN_MS)
    }
  }
}

function watchAddress({ page, profile, isPopup, notify, clock }: Guard): void {
  let failed: URL | null = null
  const goBack = async (): Promise<void> => {
    const answer = await stepBack(page, clock)
    if (answer === null && isPopup) return page.close()
    // Another navigation came in between: nobody is left standing outside.
    const url = parseUrl(page.url())
    if (url && isOutside(url, profile)) await page.goto(profile.loginUrl, { waitUntil: 'commit' })
  }
  const back = (): void => void goBack().catch(() => undefined)
  const leave: Notify = (notice, detail) => {
    notify(notice, detail)
    back()
  }
  const judge = (frame: Frame): void => {
    const url = parseUrl(frame.url())
    if (frame !== page.mainFrame() || !url) return
    const { protocol, hostname } = url
    const isDeclined = declined.delete(page)
    if (protocol === ERROR_PAGE) {
      const outside = failed && !hostAllowed(profile, failed.hostname)
      if (outside) leave('outside', failed?.hostname)
      else if (isDeclined) back()
      else leave('unanswered')
    } else if (isOutside(url, profile)) leave('outside', protocol.startsWith('http') ? hostname : protocol)
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
