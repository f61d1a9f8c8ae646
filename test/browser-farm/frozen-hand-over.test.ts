import type { ChildProcess } from 'node:child_process'
import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Commands } from '../../schemas/command/command.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import { type Lease, Leases } from '../../schemas/lease/lease.ts'
import { type DatabaseProxy, startDatabaseProxy } from '../support/proxy.ts'
import { until } from '../support/until.ts'
import { openVisitorBrowser } from '../support/visitor.ts'
import { anyKeySignsIn, leaseOf, openLiveFlow } from './open-flow.ts'
import { type OwnSite, startOwnSite } from './own-site.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const frozen = suite('a node that freezes while it hands over')

/** The one write of a lease that hands its session over. */
const HAND_OVER = ['update', 'leases', 'checking'] as const
const OVER = new Date('2020-01-01T00:00:00Z')

let site: OwnSite
let world: FarmWorld
let browser: Browser
let proxy: DatabaseProxy
let node: ChildProcess
frozen.before(async () => {
  site = await startOwnSite(anyKeySignsIn)
  world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '1' } })
  proxy = await startDatabaseProxy(world.databaseUrl)
  node = await world.farmProcess({ env: { MONGODB_URL: proxy.url } })
  browser = await openVisitorBrowser()
})
frozen.after(async () => {
  node?.kill('SIGCONT')
  await browser?.close()
  await world?.stop()
  await proxy?.stop()
  await site?.stop()
})

const signIn = (userRef: string) => openLiveFlow({ browser, world, userRef })
const commandsOf = (lease: Lease) => Commands.countDocuments({ kind: 'connect', 'by.id': lease._id })
const endItsHour = (userRef: string) => Leases.updateOne({ userRef }, { $set: { expiresAt: OVER } })

frozen('before it did: told that the time is over, and nothing comes of it when the node wakes', async () => {
  const hosted = await signIn('before')
  proxy.freeze()
  await hosted.press('a')
  await hosted.reaches('checking')
  node.kill('SIGSTOP')
  await endItsHour('before')
  await hosted.reaches('failed')
  assert.is((await leaseOf('before')).failure, 'time_over')
  const late = proxy.loseAnswerTo(...HAND_OVER)
  proxy.restore()
  node.kill('SIGCONT')
  await until('the node to hand over after all', late.lost)
  // It holds nothing any more, so it goes on to the next flow.
  const next = await signIn('next')
  await next.close()
  const lease = await leaseOf('before')
  assert.equal([lease.state, lease.failure, lease.handOver], ['failed', 'time_over', undefined])
  assert.is(await commandsOf(lease), 0)
  assert.is(await Connections.countDocuments({ userRef: 'before' }), 0)
  await hosted.close()
})

frozen(
  'after it did, before the command: the hour ends nothing, and the visitor is told of the connection',
  async () => {
    const hosted = await signIn('after')
    const written = proxy.silenceAfter(...HAND_OVER)
    await hosted.press('a')
    await until('the session to be handed over', written.lost)
    node.kill('SIGSTOP')
    await until('the write', async () => (await leaseOf('after')).handOver)
    await endItsHour('after')
    await until('the claim to run out', async () => {
      const claimableAt = (await leaseOf('after')).claimableAt
      return claimableAt && claimableAt < new Date()
    })
    assert.is(await hosted.state(), 'checking')
    assert.is(await commandsOf(await leaseOf('after')), 0)
    proxy.restore()
    node.kill('SIGCONT')
    await hosted.reaches('connected')
    assert.is(await Connections.countDocuments({ userRef: 'after', status: 'active' }), 1)
    await hosted.close()
  },
)

frozen.run()
