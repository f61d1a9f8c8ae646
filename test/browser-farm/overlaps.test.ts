import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Leases } from '../../schemas/lease/lease.ts'
import { stallNext } from '../support/stall.ts'
import { until } from '../support/until.ts'
import { openVisitorBrowser } from '../support/visitor.ts'
import { interceptWrites, type Write } from '../support/writes.ts'
import { leaseOf, openFlow } from './open-flow.ts'
import { type OwnSite, startOwnSite } from './own-site.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const overlaps = suite('a flow of which two have a hand at once')

let site: OwnSite
let world: FarmWorld
let browser: Browser
overlaps.before(async () => {
  site = await startOwnSite({ pages: () => ({ '/': '<h1>Sign in</h1><script>tell("open")</script>' }) })
  // Ten minutes of nobody's watching are ten seconds here.
  world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '60' } })
  browser = await openVisitorBrowser()
})
overlaps.after(async () => {
  await browser?.close()
  await world?.stop()
  await site?.stop()
})

type Update = { $set?: Record<string, unknown>; $unset?: Record<string, unknown> }

const updateOf = ({ args }: Pick<Write, 'args'>): Update => args[1] as Update
const isOf = (leaseId: string, { collection, method, args }: Write): boolean =>
  collection === 'leases' && method === 'updateOne' && (args[0] as { _id: string })._id === leaseId

overlaps('its visitor comes back while its node has not heard that its place is kept: it goes on at once', async () => {
  const node = await world.farm()
  const hosted = await openFlow({ browser, world, userRef: 'returns' })
  await hosted.reaches('live')
  const { _id } = await leaseOf('returns')
  let heard: () => void = () => undefined
  const answer = new Promise<void>((resolve) => {
    heard = resolve
  })
  const end = interceptWrites(async (write, proceed) => {
    const written = await proceed()
    if (isOf(_id, write) && updateOf(write).$set?.['state'] === 'parked') await answer
    return written
  })
  await hosted.page.goto('about:blank')
  await until('the browser to be given up', async () => (await leaseOf('returns')).state === 'parked')
  await hosted.page.goto(`${world.baseUrl}/start`)
  await until('the node to claim it again', async () => (await leaseOf('returns')).fence === 2)
  heard()
  await hosted.reaches('live')
  end()
  assert.is((await leaseOf('returns')).fence, 2, 'the second claim was not left to run out')
  await hosted.close()
  await node.stop()
})

overlaps('its node gives it back while the visitor looks for it: they find the next node', async () => {
  const first = await world.farm()
  const open = await Promise.all(['one', 'other'].map((userRef) => openFlow({ browser, world, userRef })))
  for (const each of open) await each.reaches('live')
  const second = await world.farm()
  const stalls = await Promise.all(
    ['one', 'other'].map(async (userRef) => {
      const { _id } = await leaseOf(userRef)
      const holds = (args: unknown[]): boolean =>
        isOf(_id, { collection: 'leases', method: 'updateOne', args }) && 'nodeUrl' in (updateOf({ args }).$unset ?? {})
      return stallNext({ collection: 'leases', method: 'updateOne', holds })
    }),
  )
  const [one, other] = stalls
  const stopped = first.stop()
  await until('the node to give both back', () => stalls.every((each) => each.reached()))
  await open[0]?.page.getByRole('heading', { name: 'The browser was lost' }).waitFor()
  one?.go()
  try {
    await open[0]?.reaches('live')
  } finally {
    other?.go()
  }
  await open[1]?.reaches('live')
  await stopped
  for (const each of open) await each.close()
  await second.stop()
})

overlaps('the database does not take down that the page is open: the visitor goes on in this browser', async () => {
  // Nobody else's flow is claimed.
  await Leases.deleteMany({})
  const node = await world.farm()
  const end = interceptWrites(async (write, proceed) => {
    if (write.collection === 'leases' && updateOf(write).$set?.['state'] === 'live') throw new Error('away')
    return proceed()
  })
  site.told.length = 0
  const hosted = await openFlow({ browser, world, userRef: 'unwritten' })
  await hosted.reaches('live')
  end()
  assert.equal(site.told, ['open'])
  await hosted.close()
  await node.stop()
})

overlaps(
  'its hour ends while it waits for the provider to open: it ends for that reason, whoever is first',
  async () => {
    const now = world.runtime.clock.now()
    const lease = {
      appId: 'shop',
      userId: 'refused',
      userRef: 'refused',
      provider: 'own',
      viewport: { width: 800, height: 600, deviceScaleFactor: 1, mobile: false },
      state: 'parked',
      parkedFor: 'provider_refused',
      createdAt: now,
      expiresAt: now,
      claimableAt: now,
      fence: 1,
    } as const
    await Leases.create(['1', '2', '3', '4', '5'].map((_id) => ({ ...lease, _id, outbox: [] })))
    const node = await world.farm()
    await until('their ends', async () => (await Leases.countDocuments({ userRef: 'refused', state: 'failed' })) === 5)
    assert.equal(await Leases.distinct('failure', { userRef: 'refused' }), ['provider_refused'])
    await node.stop()
  },
)

overlaps.run()
