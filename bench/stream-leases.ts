import { SECOND, systemClock } from '../core/clock.ts'
import { startOwnSite } from '../test/browser-farm/own-site.ts'
import { startFarmWorld } from '../test/browser-farm/world.ts'
import { until } from '../test/support/until.ts'
import { printRow, rounded } from './row.ts'
import { openDirect, openStream, type Viewer } from './stream/viewers.ts'
import { usageBelow } from './support/usage.ts'

/**
 * What a lease with a browser of its own costs, how fast it takes what is typed, and how many the machine holds while all their pictures move,
 * against browsers that are launched by hand and spoken to directly.
 */
const CHARACTERS = 300
const LEASES = 3
const MOST = 10
const LEAST_FRAMES = 10
const LOOK_MS = 3 * SECOND
/** Launches and first pictures are over by then. */
const SETTLE_MS = 4 * SECOND
const PAGE = `<style>body{margin:0;height:100vh}
.moves::after{content:"";position:absolute;top:200px;width:300px;height:300px;background:#0f6fde;animation:move 1s linear infinite alternate}
@keyframes move{to{transform:translateX(900px)}}</style><input autofocus>
<script>
const field = document.querySelector('input')
field.addEventListener('input', () => {
  if (field.value.length === ${CHARACTERS}) tell('typed')
  if (field.value.endsWith('m')) document.body.classList.add('moves')
})
</script>`

const clock = systemClock()
const site = await startOwnSite({ pages: () => ({ '/': PAGE }) })
const world = await startFarmWorld({
  env: { PROVIDER_PROFILES: site.profiles, TIME_SCALE: '1', FARM_CAPACITY: String(MOST) },
})
const farm = (await world.farmProcess()).pid ?? 0

interface Contestant {
  open(): Promise<Viewer>
  usage(): ReturnType<typeof usageBelow>
}
const ours: Contestant = { open: () => openStream({ world, scale: 1 }), usage: () => usageBelow(farm) }
const floor: Contestant = {
  open: () => openDirect({ scale: 1, url: site.url }),
  usage: () => usageBelow(process.pid, { except: farm }),
}

async function charactersPerSecond({ open }: Contestant): Promise<number> {
  const viewer = await open()
  await clock.sleep(SETTLE_MS)
  site.told.length = 0
  const begin = clock.elapsed()
  for (let index = 0; index < CHARACTERS; index++) viewer.press('a')
  await until('all typed', () => site.told.includes('typed'), { everyMs: 2 })
  const took = clock.elapsed() - begin
  await viewer.stop()
  return CHARACTERS / (took / SECOND)
}

/** MiB and part of a core of one more browser, its picture at rest and moving. */
async function costs({ open, usage }: Contestant): Promise<{ mib: number; rest: number; moving: number }> {
  await clock.sleep(SETTLE_MS)
  const before = await usage()
  const viewers: Viewer[] = []
  for (let index = 0; index < LEASES; index++) viewers.push(await open())
  await clock.sleep(SETTLE_MS)
  const load = async (): Promise<number> => {
    const begin = await usage()
    await clock.sleep(LOOK_MS)
    return ((await usage()).processorSeconds - begin.processorSeconds) / (LOOK_MS / SECOND) / LEASES
  }
  const rest = await load()
  const { mib } = await usage()
  for (const viewer of viewers) viewer.press('m')
  await clock.sleep(SECOND)
  const moving = await load()
  for (const viewer of viewers) await viewer.stop()
  return { mib: (mib - before.mib) / LEASES, rest, moving }
}

/** How many have ten frames a second each while all of them move. */
async function heldAtOnce({ open }: Contestant): Promise<number> {
  const viewers: Viewer[] = []
  try {
    while (viewers.length < MOST) {
      const viewer = await open()
      viewers.push(viewer)
      await clock.sleep(SECOND)
      viewer.press('m')
      await clock.sleep(SECOND)
      const before = viewers.map((each) => each.received().frames)
      await clock.sleep(LOOK_MS)
      const rates = viewers.map((each, index) => (each.received().frames - (before[index] ?? 0)) / (LOOK_MS / SECOND))
      if (Math.min(...rates) < LEAST_FRAMES) return viewers.length - 1
    }
    return viewers.length
  } finally {
    for (const viewer of viewers) await viewer.stop()
  }
}

type Goal = { atLeast: number } | { atMost: number }
function row({
  what,
  values: [mine, direct],
  unit,
  goal,
}: {
  what: string
  values: [number, number]
  unit: string
  goal: Goal
}) {
  printRow({ what, ours: `${rounded(mine)}${unit}`, floor: `${rounded(direct)}${unit}`, ratio: mine / direct, goal })
}

try {
  const typed: [number, number] = [await charactersPerSecond(ours), await charactersPerSecond(floor)]
  row({ what: 'characters typed into a remote field', values: typed, unit: '/s', goal: { atLeast: 0.5 } })
  const [lease, browser] = [await costs(ours), await costs(floor)]
  row({ what: 'memory of a lease (PSS)', values: [lease.mib, browser.mib], unit: ' MiB', goal: { atMost: 1.2 } })
  row({ what: 'a lease at rest, of a core', values: [lease.rest, browser.rest], unit: '', goal: { atMost: 1.2 } })
  row({
    what: 'a lease whose picture moves, of a core',
    values: [lease.moving, browser.moving],
    unit: '',
    goal: { atMost: 1.2 },
  })
  const held: [number, number] = [await heldAtOnce(ours), await heldAtOnce(floor)]
  row({
    what: `moving pictures of ${LEAST_FRAMES} frames a second at once`,
    values: held,
    unit: '',
    goal: { atLeast: 1 },
  })
} finally {
  await world.stop()
  await site.stop()
}
