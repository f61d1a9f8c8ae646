import { type Browser, chromium, type Locator, type Page } from 'playwright'
import { findBrowser } from '../../start/set-up/browser.ts'
import { until } from './until.ts'

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]
/** A screen that has not changed for so many looks in a row has settled. */
const LOOKS_TO_SETTLE = 8

/** A person's own browser. */
export async function openVisitorBrowser(): Promise<Browser> {
  const executablePath = await findBrowser({ log: () => undefined, chromiumPath: process.env['CHROMIUM_PATH'] })
  return chromium.launch({ headless: true, args: ARGUMENTS, executablePath })
}

export const PHONE = {
  viewport: { width: 390, height: 844 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
}

/** The hosted page in a visitor's browser, used as a person does: looking at the screen and typing into it. */
export interface HostedPage {
  page: Page
  screen: Locator
  state(): Promise<string | null>
  reaches(state: string): Promise<void>
  /** Waits until the remote screen has changed since the last call and is at rest. */
  screenChanged(): Promise<void>
  /** Types into the remote browser's focused field, key by key. */
  type(text: string): Promise<void>
  press(key: string): Promise<void>
}

/** `page` is on `/start`, or on its way there. */
export function hostedPage(page: Page): HostedPage {
  const screen = page.locator('canvas[aria-label="Remote browser"]')
  const status = page.locator('[role="status"][data-state]')
  let last = ''
  const picture = () =>
    screen.evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL('image/png')).catch(() => '')
  const state = () => status.getAttribute('data-state')
  return {
    page,
    screen,
    state,
    reaches: async (wanted) => {
      await until(`the page to be ${wanted}`, async () => {
        const present = await state().catch(() => null)
        if (present === 'failed' && wanted !== 'failed')
          throw new Error(`failed: ${await page.locator('[role="alert"]').first().textContent()}`)
        return present === wanted
      })
    },
    screenChanged: async () => {
      let calm = 0
      let before = ''
      await until('the remote screen to change and settle', async () => {
        const now = await picture()
        calm = now === before && now !== last && now !== '' ? calm + 1 : 0
        before = now
        return calm >= LOOKS_TO_SETTLE
      })
      last = before
    },
    type: async (text) => {
      await screen.focus()
      await page.keyboard.type(text)
    },
    press: async (key) => {
      await screen.focus()
      await page.keyboard.press(key)
    },
  }
}

/** Signs in at the sandbox provider's own login, as shown on the remote screen. */
export async function signIn(
  hosted: HostedPage,
  { email, password = 'secret' }: { email: string; password?: string },
): Promise<void> {
  await hosted.reaches('live')
  await hosted.screenChanged()
  await hosted.type(email)
  await hosted.press('Tab')
  await hosted.type(password)
  await hosted.press('Enter')
}
