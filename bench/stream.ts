import { systemClock } from '../core/clock.ts'
import { startOwnSite } from '../test/browser-farm/own-site.ts'
import { startFarmWorld } from '../test/browser-farm/world.ts'
import { median, printRow, rounded } from './row.ts'
import { openDirect, openStream, type Viewer } from './stream/viewers.ts'

/**
 * From a click to the frame that shows what it did: through page protocol, relay and farm node (a process of its own), against the
 * browser's debugging protocol used directly. The same page in the same browser with the same flags; the two take turns.
 */
const CLICKS = 150
const WARM_UP = 20
/** Device pixels to a CSS pixel. */
const SCALES = [1, 2]
/** A person's pace; without a pause the browser would still be busy with the picture before. */
const PAUSE_MS = 60
const GOAL = 2
const PAGE = `<style>body{margin:0;height:100vh;background:#fff}body.on{background:#cde}</style>
<h1>Click</h1><script>addEventListener('mousedown', () => document.body.classList.toggle('on'))</script>`

const clock = systemClock()

/** Milliseconds from the click to a picture that differs from the one before. */
function timed({ click }: Viewer): () => Promise<number> {
  let before: Uint8Array = Buffer.alloc(0)
  return async () => {
    const start = clock.elapsed()
    const jpeg = await click()
    const took = clock.elapsed() - start
    if (jpeg.equals(before)) throw new Error('the picture did not change')
    before = jpeg
    return took
  }
}

const p95 = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] ?? 0

const site = await startOwnSite({ pages: () => ({ '/': PAGE }) })
const world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '1' } })
try {
  await world.farmProcess()
  for (const scale of SCALES) {
    const stream = await openStream({ world, scale })
    const direct = await openDirect({ scale, url: site.url })
    const measures = { ours: [] as number[], floor: [] as number[] }
    const clickStream = timed(stream)
    const clickDirect = timed(direct)
    for (let index = 0; index < WARM_UP + CLICKS; index++) {
      await clock.sleep(PAUSE_MS)
      const ours = await clickStream()
      await clock.sleep(PAUSE_MS)
      const floor = await clickDirect()
      if (index < WARM_UP) continue
      measures.ours.push(ours)
      measures.floor.push(floor)
    }
    for (const [name, of] of [
      ['median', median],
      ['p95', p95],
    ] as const) {
      const [ours, floor] = [of(measures.ours), of(measures.floor)]
      printRow({
        what: `click to changed frame at ratio ${scale}, ${name}`,
        ours: `${rounded(ours)} ms`,
        floor: `${rounded(floor)} ms`,
        ratio: ours / floor,
        goal: { atMost: GOAL },
      })
    }
    await stream.stop()
    await direct.stop()
  }
} finally {
  await world.stop()
  await site.stop()
}
