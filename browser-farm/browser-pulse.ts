import type { Browser } from 'playwright'
import { type Clock, SECOND } from '../core/clock.ts'
import { within } from '../core/within.ts'
import { BrowserLost } from './lease-end.ts'

/** How often a browser is asked for a sign of life (machine time), */
const BEAT_MS = 5 * SECOND
/** and how long that may take: it is given at once, on a machine that is short of everything within seconds. */
const SILENT_MS = 15 * SECOND

/** Notices a browser process that hangs: it closes nothing by itself, and what it is asked would be waited for without end. */
export function watchBrowser({ browser, clock }: { browser: Browser; clock: Clock }): {
  /** Aborted with `BrowserLost` once the browser does not answer, or has died. */
  lost: AbortSignal
  stop(): void
} {
  const lost = new AbortController()
  const stopped = new AbortController()
  const late = () => new Error('the browser does not answer')
  const watch = async (): Promise<void> => {
    const cdp = await within(SILENT_MS, browser.newBrowserCDPSession(), { clock, late })
    for (;;) {
      await within(SILENT_MS, cdp.send('Browser.getVersion'), { clock, late })
      await clock.sleep(BEAT_MS, stopped.signal)
    }
  }
  watch().catch((error: unknown) => {
    if (!stopped.signal.aborted) lost.abort(new BrowserLost('the browser hangs, or has died', { cause: error }))
  })
  return { lost: lost.signal, stop: () => stopped.abort() }
}
