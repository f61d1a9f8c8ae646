import { setTimeout as wait } from 'node:timers/promises'
import { MINUTE } from '../core/clock.ts'
import { printLimit } from './row.ts'
import { openStream } from './stream/viewers.ts'
import { usageBelow } from './support/usage.ts'
import { startWholeService } from './support/whole-service.ts'

/**
 * What `npm start` takes of the machine while nobody uses it: its processes, the database that it starts, and the browser that waits for a visitor;
 * and what is left of eight visitors two minutes after each has closed the page at the provider's login.
 */
const SETTLE_MS = 60_000
const LOOK_MS = 20_000
const FLOWS = 8
const GONE_MS = 2 * MINUTE
/** Until the browsers that are given up then have ended. */
const END_MS = 10_000
const MOST = { mib: 600, load: 0.1, readyS: 10, goneMib: 100 }

const service = await startWholeService({ MONGODB_URL: '' })
await wait(SETTLE_MS)
// Not what runs this bench itself.
const usage = () => usageBelow(service.pid, { itself: true })
const before = await usage()
await wait(LOOK_MS)
const { mib, processes, processorSeconds } = await usage()
const load = (processorSeconds - before.processorSeconds) / (LOOK_MS / 1_000)
for (let index = 0; index < FLOWS; index++) {
  const viewer = await openStream({ world: service, scale: 1, userRef: `gone-${index}` })
  if (viewer.received().frames === 0) await viewer.next()
  viewer.leave()
}
await wait(GONE_MS + END_MS)
const gone = await usage()
await service.stop()

printLimit({ what: `all of ${processes} processes at rest, PSS`, value: mib, most: MOST.mib, unit: 'MiB' })
printLimit({ what: 'the same, of a core', value: load, most: MOST.load, unit: '' })
printLimit({
  what: `${FLOWS} flows that their visitors left two minutes ago, PSS of ${gone.processes - processes} processes more`,
  value: gone.mib - mib,
  most: MOST.goneMib,
  unit: 'MiB',
})
printLimit({
  what: 'npm start until it is ready, with nothing there yet',
  value: service.readyMs / 1_000,
  most: MOST.readyS,
  unit: 's',
})
