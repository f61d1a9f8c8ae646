import type { BrowserContext, BrowserContextOptions, Page } from 'playwright'
import { freePort } from '../../start/set-up/database/ports.ts'
import { until } from '../support/until.ts'
import { type HostedPage, hostedPage, openVisitorBrowser } from '../support/visitor.ts'
import { type OwnSite, startOwnSite } from './own-site.ts'
import { startFarmWorld } from './world.ts'

/** A visitor who has opened a link, and sees the login page of a provider whose pages the test writes. */
export interface Visit {
  site: OwnSite
  page: Page
  hosted: HostedPage
  /** Waits until a page of the site has told this. */
  tells(what: string): Promise<unknown>
  stop(): Promise<void>
}

/** What lies between visitor and service: it listens on `port` for what goes to `target`. */
type Network = (ends: { port: number; target: number }) => Promise<{ stop(): Promise<void> }>

/** `browser` is the visitor's own, `prepare` is done in it before the link is opened. */
export async function visitOwnSite({
  browser: options = {},
  prepare = async () => undefined,
  network,
  ...site
}: Parameters<typeof startOwnSite>[0] & {
  browser?: BrowserContextOptions
  prepare?: (context: BrowserContext) => Promise<unknown>
  network?: Network
}): Promise<Visit> {
  const ownSite = await startOwnSite(site)
  const port = network && (await freePort())
  const world = await startFarmWorld({
    env: {
      PROVIDER_PROFILES: ownSite.profiles,
      TIME_SCALE: '1',
      ...(port !== undefined && { BASE_URL: `http://127.0.0.1:${port}` }),
    },
  })
  const link = new URL(world.link({ userRef: 'visitor' }))
  const target = Number(link.port)
  link.port = String(port ?? target)
  const between = port === undefined ? undefined : await network?.({ port, target })
  const browser = await openVisitorBrowser()
  const stop = async (): Promise<void> => {
    await browser.close()
    await between?.stop()
    await world.stop()
    await ownSite.stop()
  }
  try {
    await world.farm()
    const context = await browser.newContext(options)
    await prepare(context)
    const page = await context.newPage()
    await page.goto(link.href)
    const hosted = hostedPage(page)
    await hosted.reaches('live')
    return { site: ownSite, page, hosted, tells: (what) => until(what, () => ownSite.told.includes(what)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}
