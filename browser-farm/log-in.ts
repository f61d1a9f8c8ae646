import type { Browser, BrowserContext } from 'playwright'
import { SECOND } from '../core/clock.ts'
import type { ProviderProfile } from '../provider/profile.ts'
import type { Lease } from '../schemas/lease/lease.ts'
import type { ProviderTrouble } from '../wire/flow-ends.ts'
import type { Audience } from './audience.ts'
import { boundedViewport } from './device-pixels.ts'
import { BrowserLost } from './lease-end.ts'
import { type BrowserState, openContext } from './open-context.ts'
import { openPage } from './open-page.ts'
import type { FarmRuntime } from './runtime.ts'
import { createScreen, type Screen } from './screen.ts'
import { type UsableSession, waitForSession } from './session-check.ts'

const BLANK = 'about:blank'
/** A page that is busy leaves late or not at all, and the visitor waits. */
const BLANK_MS = 5 * SECOND

/** A lease's browser from its opening to the usable session that the visitor made in it. */
export interface Login {
  context: BrowserContext
  screen: Screen
  session: Promise<UsableSession>
}

/**
 * Opens the provider's login page for a lease and shows it to its audience. `session` rejects with `BrowserLost` when the browser or
 * its page dies, with `LeaseEnd` when the provider's page does not open, and with the signal's reason.
 */
export async function openLogin({
  browser,
  lease,
  profile,
  address,
  state,
  audience,
  onOpen,
  runtime: { clock, log, proxies },
  signal,
}: {
  browser: Browser
  lease: Lease
  profile: ProviderProfile
  /** Where it begins. */
  address: string
  state: BrowserState | undefined
  audience: Audience
  /** The login page is there. */
  onOpen: () => void
  runtime: FarmRuntime
  signal: AbortSignal
}): Promise<Login> {
  const lost = new AbortController()
  const lose = (): void => lost.abort(new BrowserLost('the browser or its page died'))
  const both = AbortSignal.any([signal, lost.signal])
  const viewport = boundedViewport(lease.viewport)
  const context = await openContext({ browser, viewport, proxy: proxies.url(profile), state })
  context.once('close', lose)
  const screen = createScreen({
    context,
    profile,
    viewport,
    clock,
    onFrame: audience.show,
    tell: audience.tell,
    onNotice: audience.notify,
    onLost: lose,
  })

  const open = async (): Promise<void> => {
    const page = await context.newPage()
    const onTrouble = (reason: ProviderTrouble, error: unknown): void => {
      log.info({ err: error, reason, lease: lease._id }, 'the login page did not open')
      audience.setState('waiting', { reason })
    }
    await openPage({ page, address, clock, signal: both, onTrouble })
    onOpen()
  }
  const logIn = async (): Promise<UsableSession> => {
    try {
      await open()
      const session = await waitForSession({ context, profile, clock, signal: both })
      screen.leave()
      // What the page still asks for could rotate the cookie after it was read.
      await Promise.all(context.pages().map((page) => page.goto(BLANK, { timeout: BLANK_MS }).catch(() => undefined)))
      return session
    } catch (error) {
      both.throwIfAborted()
      throw error
    }
  }
  const session = logIn()
  // Whoever waits for it hears of a failure then; until then it is no unhandled one.
  session.catch(() => undefined)
  return { context, screen, session }
}
