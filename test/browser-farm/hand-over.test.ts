import type { Browser } from 'playwright'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { Commands } from '../../schemas/command/command.ts'
import { Connections } from '../../schemas/connection/connection.ts'
import type { Lease } from '../../schemas/lease/lease.ts'
import { purgeLeases, releaseLeases } from '../../schemas/lease/lease-ends.ts'
import { stallNext } from '../support/stall.ts'
import { until } from '../support/until.ts'
import { openVisitorBrowser } from '../support/visitor.ts'
import { interceptWrites } from '../support/writes.ts'
import { anyKeySignsIn, leaseOf, openFlow } from './open-flow.ts'
import { type OwnSite, startOwnSite } from './own-site.ts'
import { type FarmWorld, startFarmWorld } from './world.ts'

const handOver = suite('what the visitor was told is what happens')

let site: OwnSite
let world: FarmWorld
let browser: Browser
handOver.before(async () => {
  site = await startOwnSite(anyKeySignsIn)
  world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '1' } })
  await world.farm()
  browser = await openVisitorBrowser()
})
handOver.after(async () => {
  await browser?.close()
  await world?.stop()
  await site?.stop()
})

const signIn = async (userRef: string) => {
  const hosted = await openFlow({ browser, world, userRef })
  await hosted.reaches('live')
  await hosted.press('a')
  return hosted
}
const commandsOf = (lease: Lease) => Commands.find({ kind: 'connect', 'by.id': lease._id }).lean()
const checking = (args: unknown[]): boolean => JSON.stringify(args[1]).includes('"checking"')

handOver('a node that froze before it handed over makes nothing of it when the flow has ended since', async () => {
  const stalled = stallNext({ collection: 'leases', method: 'updateOne', holds: checking })
  const hosted = await signIn('frozen')
  await until('the node to be about to hand over', stalled.reached)
  await releaseLeases({ filter: { userRef: 'frozen' }, now: new Date() })
  stalled.go()
  await hosted.reaches('failed')
  const lease = await leaseOf('frozen')
  assert.equal([lease.state, lease.claimableAt, lease.handOver], ['released', undefined, undefined])
  assert.equal(await commandsOf(lease), [])
  await hosted.close()
})

handOver('a command that comes after a purge has ended its lease makes no connection', async () => {
  const stalled = stallNext({ collection: 'commands', method: 'insertOne' })
  const hosted = await signIn('purged')
  await until('the node to be about to write the command', stalled.reached)
  const { userId } = await leaseOf('purged')
  assert.is(await purgeLeases({ userId, now: new Date() }), 1)
  stalled.go()
  await hosted.reaches('failed')
  const lease = await leaseOf('purged')
  const [command] = await until('the late command to have ended', async () => {
    const found = await commandsOf(lease)
    return found[0]?.state === 'failed' ? found : null
  })
  assert.is(command?.args && 'credential' in command.args, false, 'its secrets are gone')
  assert.is(lease.handOver?.args, undefined)
  assert.is(await Connections.countDocuments({ userRef: 'purged' }), 0)
  await hosted.close()
})

handOver('answers of the database that were lost change nothing: one login, one connection', async () => {
  const lost = new Set<string>()
  const end = interceptWrites(async ({ collection, method, args }, proceed) => {
    const answer = await proceed()
    const what =
      collection === 'commands' && method === 'insertOne'
        ? 'command'
        : collection === 'leases' && checking(args)
          ? 'lease'
          : ''
    if (what === '' || lost.has(what)) return answer
    lost.add(what)
    throw new Error(`the answer to the ${what} was lost`)
  })
  const hosted = await signIn('lost')
  await hosted.reaches('connected')
  end()
  assert.equal([...lost], ['lease', 'command'])
  const lease = await leaseOf('lost')
  assert.equal([lease.fence, lease.state, lease.handOver?.args], [1, 'connected', undefined])
  assert.is(await Connections.countDocuments({ userRef: 'lost' }), 1)
  await hosted.close()
})

handOver.run()
