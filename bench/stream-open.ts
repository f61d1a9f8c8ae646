import { SECOND, systemClock } from '../core/clock.ts'
import { startOwnSite } from '../test/browser-farm/own-site.ts'
import { startFarmWorld } from '../test/browser-farm/world.ts'
import { median, printRow, rounded } from './row.ts'
import { openDirect, openStream, type Viewer } from './stream/viewers.ts'

/**
 * From the click on a link to the first picture of the login page, with a browser that was launched ahead of time, against a browser that is launched
 * for it and spoken to directly.
 */
const RUNS = 5
/** The next browser is ready by then. */
const PAUSE_MS = 5 * SECOND
const PAGE = '<h1>Sign in</h1><input autofocus>'

const clock = systemClock()

async function firstPicture(open: () => Promise<Viewer>): Promise<number> {
  await clock.sleep(PAUSE_MS)
  const start = clock.elapsed()
  const viewer = await open()
  if (viewer.received().frames === 0) await viewer.next()
  const took = clock.elapsed() - start
  await viewer.stop()
  return took
}

const site = await startOwnSite({ pages: () => ({ '/': PAGE }) })
const world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '1' } })
try {
  await world.farmProcess()
  const measures = { ours: [] as number[], floor: [] as number[] }
  for (let run = 0; run < RUNS; run++) {
    measures.ours.push(await firstPicture(() => openStream({ world, scale: 1 })))
    measures.floor.push(await firstPicture(() => openDirect({ world, scale: 1, url: site.url })))
  }
  const [ours, floor] = [median(measures.ours), median(measures.floor)]
  printRow({
    what: 'first picture after a link is opened',
    ours: `${rounded(ours)} ms`,
    floor: `${rounded(floor)} ms`,
    ratio: ours / floor,
    goal: { atMost: 1.5 },
  })
} finally {
  await world.stop()
  await site.stop()
}
