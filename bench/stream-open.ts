import { SECOND, systemClock } from '../core/clock.ts'
import { startOwnSite } from '../test/browser-farm/own-site.ts'
import { testDatabase } from '../test/support/database.ts'
import { median, printRow, rounded } from './row.ts'
import { launchDirect, openDirect, openStream, type Viewer } from './stream/viewers.ts'
import { startWholeService } from './support/whole-service.ts'

/**
 * From the click on a link to the first picture of the login page, with a browser that was launched ahead of time (warm) and for a second
 * visitor who comes at once after the first (cold), against a browser that is spoken to directly: one that was launched before (warm), and one that is launched for it.
 */
const RUNS = 5
/** The next browser is ready by then. */
const PAUSE_MS = 5 * SECOND
const PAGE = '<h1>Sign in</h1><input autofocus>'

const clock = systemClock()

/** Milliseconds until each of these visitors, one at once after the other, sees it. */
async function firstPictures(...visitors: (() => Promise<Viewer>)[]): Promise<number[]> {
  await clock.sleep(PAUSE_MS)
  const took: number[] = []
  const viewers: Viewer[] = []
  for (const open of visitors) {
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
const database = await testDatabase()
const service = await startWholeService({ MONGODB_URL: database.url, PROVIDER_PROFILES: site.profiles })
try {
  const measures = {
    ours: { warm: [] as number[], cold: [] as number[] },
    floor: { warm: [] as number[], cold: [] as number[] },
  }
  for (let run = 0; run < RUNS; run++) {
    const open = (): Promise<Viewer> => openStream({ world: service, scale: 1 })
    const [warm = 0, cold = 0] = await firstPictures(open, open)
    measures.ours.warm.push(warm)
    measures.ours.cold.push(cold)
    const browser = await launchDirect()
    const direct = { scale: 1, url: site.url }
    const [launched = 0, launching = 0] = await firstPictures(
      () => openDirect({ ...direct, browser }),
      () => openDirect(direct),
    )
    measures.floor.warm.push(launched)
    measures.floor.cold.push(launching)
  }
  for (const kind of ['warm', 'cold'] as const) {
    const [ours, floor] = [median(measures.ours[kind]), median(measures.floor[kind])]
    printRow({
      what: `first picture after a link is opened, ${kind}`,
      ours: `${rounded(ours)} ms`,
      floor: `${rounded(floor)} ms`,
      ratio: ours / floor,
      goal: { atMost: 1.5 },
    })
  }
} finally {
  await service.stop()
  await database.drop()
  await site.stop()
}
