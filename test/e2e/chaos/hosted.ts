import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser } from 'playwright'
import { signLink } from '../../../sdk/src/index.ts'
import { hostedPage, openVisitorBrowser, signIn } from '../../support/visitor.ts'
import type { Flow, History } from './history.ts'
import type { ChaosWorld } from './world.ts'

const USER = 'hosted-user'
/** Before whoever was not let in tries again. */
const AGAIN_MS = 1_000
export const HOSTED_EMAIL = 'bulk-10+hosted@example.test'

/** A person who signs in on the hosted page, over and over; what fails is begun anew with another link, as an app would. */
export async function hostedLogins({
  world,
  history,
  isOver,
}: {
  world: ChaosWorld
  history: History
  isOver(): boolean
}): Promise<void> {
  const browser = await openVisitorBrowser()
  try {
    while (!isOver()) await logIn({ world, history, browser })
  } finally {
    await browser.close()
  }
}

async function logIn({
  world: { service },
  history,
  browser,
}: {
  world: ChaosWorld
  history: History
  browser: Browser
}): Promise<void> {
  const flow: Flow = { userRef: USER, sentAt: performance.now() }
  history.flows.push(flow)
  const page = await browser.newPage()
  try {
    await page.goto(signLink({ ...service.app, userRef: USER, baseUrl: service.baseUrl }).url)
    const hosted = hostedPage(page)
    await signIn(hosted, { email: HOSTED_EMAIL })
    await hosted.reaches('connected')
    flow.begunAt = flow.sentAt
    flow.connected = { at: performance.now() }
    history.notes.push(`${Math.round(performance.now())} ${USER} signed in`)
  } catch (error) {
    history.notes.push(`${Math.round(performance.now())} ${USER} did not sign in: ${String(error).split('\n')[0]}`)
    await sleep(AGAIN_MS)
  } finally {
    await page.close()
  }
}
