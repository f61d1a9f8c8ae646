import type { Page, Response } from 'playwright'
import { type Clock, SECOND } from '../core/clock.ts'
import type { ProviderTrouble } from '../wire/flow-ends.ts'
import { answerOf } from './answer-of.ts'
import { LeaseEnd } from './lease-end.ts'

/** How long a provider has for its first page, attempts and waits together (machine time): within a minute the visitor is told. */
const OPEN_MS = 40 * SECOND
/** A page that takes longer to be complete is shown as it is, where there is something of it to see. */
const CONTENT_TIMEOUT_MS = 8 * SECOND
/** Between attempts to open a page that does not answer. */
const AGAIN_MS = 2 * SECOND

/** RFC 9110: too many requests, and what is the server's own fault. */
const TOO_MANY = 429
const SERVER_ERROR = 500

/**
 * Opens a provider's page, however many attempts that takes in the time that there is. Throws `LeaseEnd` of the last trouble, and the
 * signal's reason. `onTrouble` is called where it is tried again.
 */
export async function openPage({
  page,
  address,
  clock,
  signal,
  onTrouble,
}: {
  page: Page
  address: string
  clock: Clock
  signal: AbortSignal
  onTrouble: (trouble: ProviderTrouble, error: unknown) => void
}): Promise<void> {
  const end = clock.elapsed() + OPEN_MS
  for (;;) {
    signal.throwIfAborted()
    const { trouble, error } = await attempt({ page, address, leftMs: end - clock.elapsed(), clock })
    signal.throwIfAborted()
    if (!trouble) return
    onTrouble(trouble, error)
    if (clock.elapsed() + AGAIN_MS >= end) throw new LeaseEnd(trouble)
    await clock.sleep(AGAIN_MS, signal)
  }
}

interface Attempt {
  trouble?: ProviderTrouble
  error?: unknown
}

async function attempt({
  page,
  address,
  leftMs,
  clock,
}: {
  page: Page
  address: string
  leftMs: number
  clock: Clock
}): Promise<Attempt> {
  const end = clock.elapsed() + leftMs
  try {
    const response = await page.goto(address, { waitUntil: 'commit', timeout: Math.max(1, leftMs) })
    const isLoaded = await loaded(page, Math.min(CONTENT_TIMEOUT_MS, end - clock.elapsed()))
    if (response && (await isRefusal({ response, page, clock })))
      return { trouble: 'provider_refused', error: response.status() }
    if (isLoaded || (await hasContent(page, clock)) || (await loaded(page, end - clock.elapsed()))) return {}
    return { trouble: 'provider_slow' }
  } catch (error) {
    return { trouble: /timeout|timed_out/i.test(String(error)) ? 'provider_slow' : 'provider_unreachable', error }
  }
}

const loaded = (page: Page, timeout: number): Promise<boolean> =>
  page.waitForLoadState('domcontentloaded', { timeout: Math.max(1, timeout) }).then(
    () => true,
    () => false,
  )

async function hasContent(page: Page, clock: Clock): Promise<boolean> {
  const found = page.evaluate(() => (document.body?.childElementCount ?? 0) > 0)
  return (await answerOf(found, clock)) === true
}

/** An error that leads nowhere; one with something to do on it (a question whether one is a robot, say) is the visitor's to answer. */
async function isRefusal({
  response,
  page,
  clock,
}: {
  response: Response
  page: Page
  clock: Clock
}): Promise<boolean> {
  const status = response.status()
  if (status === TOO_MANY || status >= SERVER_ERROR) return true
  if (response.ok() || status < 400) return false
  const isDeadEnd = page.evaluate(() => !document.querySelector('form, iframe, script, button, input, a'))
  return (await answerOf(isDeadEnd, clock)) === true
}
