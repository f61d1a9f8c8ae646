import { claimDeliveries } from '../../schemas/delivery/delivery-claims.ts'
import { dueLanes, moveLaneOn } from '../../schemas/delivery/delivery-lane.ts'
import { startWorld } from '../../test/actors/delivery/world.ts'
import { median, timed } from '../row.ts'
import { waitingDeliveries } from '../support/waiting-deliveries.ts'

const APPS = 100
const MOST_AT_ONCE = 5_000
const LOOKS = 50
const HOUR_MS = 3_600_000

interface Claims {
  /** Medians in ms: what an idle process does several times a second, and one claim for an app that has ten due. */
  idleLookMs: number
  claimMs: number
  /** The same claim for the app whose endpoint is dead, with a tenth of all deliveries due. */
  deadClaimMs: number
}

/** What claims cost beside so many deliveries: a tenth of them due to a dead endpoint, the others in an hour. */
export async function ourClaims({ waiting }: { waiting: number }): Promise<Claims> {
  const world = await startWorld({ timeScale: 1 })
  const batch = Math.min(MOST_AT_ONCE, waiting / APPS)
  try {
    const now = Date.now()
    for (let made = 0; made < waiting; made += batch) {
      const index = (made / batch) % APPS
      const dead = index % 10 === 0
      const at = new Date(dead ? now - HOUR_MS + made / batch : now + HOUR_MS + made / batch)
      await waitingDeliveries({ appId: dead ? 'dead' : `app ${index}`, count: batch, at })
    }
    const idle: number[] = []
    const claims: number[] = []
    const dead: number[] = []
    for (let look = 0; look < LOOKS; look++) {
      const at = new Date()
      idle.push(await timed(() => dueLanes({ now: at, except: ['dead'], limit: 50 })))
      await waitingDeliveries({ appId: 'alive', count: 10, at })
      claims.push(
        await timed(async () => {
          const [lane] = await dueLanes({ now: at, except: ['dead'], limit: 50 })
          const { begun } = await claimDeliveries({ appId: 'alive', limit: 50, now: at })
          if (begun.length !== 10 || !lane) throw new Error(`claimed ${begun.length} of 10`)
          await moveLaneOn(lane)
        }),
      )
      dead.push(await timed(() => claimDeliveries({ appId: 'dead', limit: 10, now: at })))
    }
    return { idleLookMs: median(idle), claimMs: median(claims), deadClaimMs: median(dead) }
  } finally {
    await world.stop()
  }
}
