import type { Browser } from 'playwright'
import { type Lease, Leases } from '../../schemas/lease/lease.ts'
import { type HostedPage, hostedPage } from '../support/visitor.ts'
import type { FarmWorld } from './world.ts'

/** The pages of a provider where any key signs in, for `startOwnSite`, and whose account that is. */
export const anyKeySignsIn = {
  pages: () => ({
    '/': `<h1>Press a key</h1><script>addEventListener('keydown', () => { document.cookie = 'session=secret-session' })</script>`,
  }),
  session: { accessToken: 'token', expires: '2099-01-01', user: { id: 'user-1', email: 'one@example.test' } },
}

interface Visitor {
  browser: Browser
  world: FarmWorld
  userRef: string
}

type OpenFlow = HostedPage & { close(): Promise<void> }

/** A visitor, with a browser context of their own, opens a link of this user's. */
export async function openFlow({ browser, world, userRef }: Visitor): Promise<OpenFlow> {
  const context = await browser.newContext()
  const page = await context.newPage()
  await page.goto(world.link({ userRef }))
  return { ...hostedPage(page), close: () => context.close() }
}

/** The same, until the visitor sees the provider's page. */
export async function openLiveFlow(visitor: Visitor): Promise<OpenFlow> {
  const hosted = await openFlow(visitor)
  await hosted.reaches('live')
  return hosted
}

/** The lease of a user's one flow. */
export async function leaseOf(userRef: string): Promise<Lease> {
  const lease = await Leases.findOne({ userRef }).lean<Lease>()
  if (!lease) throw new Error(`${userRef} has no lease`)
  return lease
}
