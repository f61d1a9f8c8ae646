import { SECOND, systemClock } from '../core/clock.ts'
import { startOwnSite } from '../test/browser-farm/own-site.ts'
import { startFarmWorld } from '../test/browser-farm/world.ts'
import { median, printRow, rounded } from './row.ts'
import { openDirect, openStream, type Viewer } from './stream/viewers.ts'

/**
 * From the click on a link to the first picture of the login page, with a browser that was launched ahead of time (warm) and for a second
 * visitor who comes at once after the first (cold), against a browser that is launched for it and spoken to directly.
 */
const RUNS = 5
/** The next browser is ready by then. */
const PAUSE_MS = 5 * SECOND
const PAGE = '<h1>Sign in</h1><input autofocus>'

const clock = systemClock()

/** Milliseconds until each of so many visitors, one at once after the other, sees it. */
async function firstPictures(open: () => Promise<Viewer>, visitors: number): Promise<number[]> {
  await clock.sleep(PAUSE_MS)
  const took: number[] = []
  const viewers: Viewer[] = []
  for (let visitor = 0; visitor < visitors; visitor++) {
    const start = clock.elapsed()
    const viewer = await open()
    if (viewer.received().frames === 0) await viewer.next()
    took.push(clock.elapsed() - start)
    viewers.push(viewer)
  }
  for (const viewer of viewers) await viewer.stop()
  return took
}

const site = await startOwnSite({ pages: () => ({ '/': PAGE }) })
const world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '1' } })
try {
  await world.farmProcess()
  const measures = { warm: [] as number[], cold: [] as number[], floor: [] as number[] }
  for (let run = 0; run < RUNS; run++) {
    const [warm = 0, cold = 0] = await firstPictures(() => openStream({ world, scale: 1 }), 2)
    measures.warm.push(warm)
    measures.cold.push(cold)
    measures.floor.push(...(await firstPictures(() => openDirect({ world, scale: 1, url: site.url }), 1)))
  }
  const floor = median(measures.floor)
  for (const kind of ['warm', 'cold'] as const) {
    const ours = median(measures[kind])
    printRow({
      what: `first picture after a link is opened, ${kind}`,
      ours: `${rounded(ours)} ms`,
      floor: `${rounded(floor)} ms`,
      ratio: ours / floor,
      goal: { atMost: 1.5 },
    })
  }
} finally {
  await world.stop()
  await site.stop()
}
