import type { Db } from 'mongodb'
import type { Lease } from '../../../schemas/lease/lease.ts'
import type { FarmWorld } from '../../browser-farm/world.ts'
import { until } from '../../support/until.ts'
import { hostedPage, openVisitorBrowser, signIn } from '../../support/visitor.ts'
import type { Asker } from './asker.ts'

export interface Visits {
  /** A sign-in on the hosted page. */
  signIn(userRef: string, email: string): Promise<void>
  /** Opens the sign-in page and leaves it to `end`, which is given the lease. */
  open(userRef: string, end: (leaseId: string) => Promise<unknown>): Promise<void>
  /** A sign-in in a mobile app; returns the connection's id. */
  signInNatively(userRef: string, email: string): Promise<string>
  /** Deletes everything on the manage page. */
  deleteAll(userRef: string): Promise<void>
}

/** What end users do. */
export function createVisits({
  world,
  asker: { ask },
  database,
}: {
  world: FarmWorld
  asker: Asker
  database: Db
}): Visits {
  const onPage = async (userRef: string, visit: (page: ReturnType<typeof hostedPage>) => Promise<void>) => {
    const browser = await openVisitorBrowser()
    try {
      const page = await browser.newPage()
      await page.goto(world.link({ userRef }))
      await visit(hostedPage(page))
    } finally {
      await browser.close()
    }
  }
  return {
    signIn: (userRef, email) =>
      onPage(userRef, async (page) => {
        await signIn(page, { email })
        await page.reaches('connected')
      }),
    open: (userRef, end) =>
      onPage(userRef, async (page) => {
        await page.reaches('live')
        const { _id } = await until('the lease', () => database.collection<Lease>('leases').findOne({ userRef }))
        await end(_id)
        await page.reaches('failed')
      }),
    signInNatively: async (userRef, email) => {
      const token = new URL(world.link({ userRef })).searchParams.get('token')
      const body = { action: 'start', token, device: { platform: 'iOS' } }
      const { captureNonce, clientSecret } = await ask('api.connectNative', { body })
      const sessionToken = await world.site.signIn(email)
      const session = await world.site.client({ cookie: sessionToken }).session()
      if (!session.usable) throw new Error(session.reason)
      const { accessToken, account } = session
      const capture = { action: 'capture', captureNonce, clientSecret, sessionToken, accessToken }
      const { connectionId } = await until('the capture', async () => {
        const answer = await ask('api.connectNative', {
          body: { ...capture, providerAccountId: account.id, providerAccountEmail: email },
        })
        return answer['status'] === 'connected' ? answer : null
      })
      return String(connectionId)
    },
    deleteAll: async (userRef) => {
      const sent = await fetch(world.link({ userRef, purpose: 'manage' }), { redirect: 'manual' })
      const cookie = sent.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ')
      await fetch(`${world.baseUrl}/manage`, { headers: { cookie } })
      const page = await (await fetch(`${world.baseUrl}/manage/delete`, { headers: { cookie } })).text()
      const [, flow = ''] = /name="flow" value="([^"]*)"/.exec(page) ?? []
      await fetch(`${world.baseUrl}/manage/delete`, {
        method: 'POST',
        headers: { cookie, origin: world.baseUrl },
        body: new URLSearchParams({ flow }),
      })
    },
  }
}
