import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Connections } from '../../../schemas/connection/connection.ts'
import { trusted } from '../../../schemas/database.ts'
import { type ActorWorld, startActorWorld } from '../../support/actors.ts'
import { until } from '../../support/until.ts'
import { complete, connected, connectionOf, makeDue } from './support.ts'

const PLACES = 8
const BUSY = 40
const fair = suite('places for syncs are shared between apps')
let world: ActorWorld
fair.before(async () => {
  world = await startActorWorld({ timeScale: 10, syncsAtOnce: PLACES })
  for (const appId of ['calm', 'new']) await world.makeApp(`app-${appId}`)
})
fair.after(() => world.stop())

const underWay = (appId: string) => Connections.countDocuments({ appId, claimedBy: trusted({ $exists: true }) })
const syncedSince = (id: string, before: Date | undefined) =>
  until('its sync', async () => {
    const { lastSyncAt } = await connectionOf(id)
    return lastSyncAt && before && lastSyncAt > before ? lastSyncAt : null
  })

fair('while one app has many that are due and hang, another’s single one is synced', async () => {
  const calm = await connected(world, { userRef: 'calm', email: 'calm@example.test', appId: 'app-calm' })
  const { lastSyncAt: before } = await complete(calm)
  const accounts = Array.from({ length: BUSY }, (_, index) => `busy-${index}@example.test`)
  const busy = await Promise.all(accounts.map((email) => connected(world, { userRef: email, email })))
  await Promise.all(busy.map(complete))
  await Promise.all(
    accounts.map((account) => world.site.control({ action: 'fail', account, mode: 'hang', count: 1_000 })),
  )
  await Connections.updateMany({ _id: trusted({ $in: busy }) }, { $set: { claimableAt: new Date(0) } })
  await until('as many as it may have', async () => (await underWay(world.appId)) >= PLACES / 2)

  await makeDue(calm)
  await syncedSince(calm, before)
  assert.ok((await underWay(world.appId)) <= PLACES / 2, 'and no more')
  const first = await connected(world, { userRef: 'first', email: 'first@example.test', appId: 'app-new' })
  await complete(first)
  await Promise.all(accounts.map((account) => world.site.control({ action: 'reset', account })))
})

fair.run()
