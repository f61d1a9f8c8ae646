import { SECOND, systemClock } from '../core/clock.ts'
import { startOwnSite } from '../test/browser-farm/own-site.ts'
import { startFarmWorld } from '../test/browser-farm/world.ts'
import { printRow, rounded } from './row.ts'
import { openDirect, openStream, type Viewer } from './stream/viewers.ts'

/**
 * What a picture costs its link, at rest and moving, against the browser's debugging protocol used directly: a login form whose field has the
 * focus, and the same form once something on it moves.
 */
const SECONDS = 5
/** The picture in full quality has come by then. */
const SETTLE_MS = 3 * SECOND
const PAGE = `<style>
body{margin:0;height:100vh;font:16px sans-serif}
.moves::after{content:"";position:absolute;top:200px;width:300px;height:300px;background:#0f6fde;animation:move 1s linear infinite alternate}
@keyframes move{to{transform:translateX(900px)}}
</style><h1>Sign in</h1><p>With your account</p><input autofocus>
<script>addEventListener('keydown', (event) => { event.preventDefault(); document.body.classList.add('moves') })</script>`

const clock = systemClock()

/** Frames and bytes a second from now on. */
async function rate(viewer: Viewer): Promise<{ frames: number; bytes: number }> {
  const before = viewer.received()
  await clock.sleep(SECONDS * SECOND)
  const after = viewer.received()
  return { frames: (after.frames - before.frames) / SECONDS, bytes: (after.bytes - before.bytes) / SECONDS }
}

async function measure(viewer: Viewer) {
  await clock.sleep(SETTLE_MS)
  const rest = await rate(viewer)
  viewer.press('m')
  await clock.sleep(SECOND)
  const moving = await rate(viewer)
  await viewer.stop()
  return { rest, moving }
}

const site = await startOwnSite({ pages: () => ({ '/': PAGE }) })
const world = await startFarmWorld({ env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '1' } })
try {
  await world.farmProcess()
  const ours = await measure(await openStream({ world, scale: 1 }))
  const floor = await measure(await openDirect({ scale: 1, url: site.url }))
  const row = (
    what: string,
    [mine, direct]: [number, number],
    unit: string,
    goal: { atLeast: number } | { atMost: number },
  ) =>
    printRow({
      what,
      ours: `${rounded(mine)} ${unit}`,
      floor: `${rounded(direct)} ${unit}`,
      ratio: mine / direct,
      goal,
    })
  row('bytes of a form at rest', [ours.rest.bytes, floor.rest.bytes], 'B/s', { atMost: 0.1 })
  row('bytes of a moving picture', [ours.moving.bytes, floor.moving.bytes], 'B/s', { atMost: 1.2 })
  row('frames of a moving picture', [ours.moving.frames, floor.moving.frames], '/s', { atLeast: 0.5 })
} finally {
  await world.stop()
  await site.stop()
}
