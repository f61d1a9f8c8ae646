import { newId } from '../../core/ids.ts'
import { Deliveries } from '../../schemas/delivery/delivery.ts'
import { claimDeliveries } from '../../schemas/delivery/delivery-claims.ts'
import { bringLanesForward, dueLanes, moveLaneOn } from '../../schemas/delivery/delivery-lane.ts'
import { startWorld } from '../../test/actors/delivery/world.ts'
import { median } from '../row.ts'

const APPS = 100
const MOST_AT_ONCE = 5_000
const LOOKS = 50
const HOUR_MS = 3_600_000

interface MillionResult {
  waiting: number
  insertSeconds: number
  /** Medians in ms: what an idle process does twenty times a second, and one claim for an app that has ten due. */
  idleLookMs: number
  claimMs: number
  /** The same claim for the app whose endpoint is dead, with a tenth of all deliveries due. */
  deadClaimMs: number
}

function documents({ appId, count, at }: { appId: string; count: number; at: Date }) {
  return Array.from({ length: count }, () => {
    const deliveryId = newId()
    return {
      _id: deliveryId,
      appId,
      event: 'test.event',
      body: JSON.stringify({ event: 'test.event', payload: { userRef: 'user-1', message: 'hello' }, deliveryId }),
      state: 'waiting',
      attempts: [{ number: 1, at, status: 503, durationMs: 12, error: 'Answered 503' }],
      attemptsBefore: 0,
      createdAt: at,
      claimableAt: at,
      fence: 1,
    }
  })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

/** What a million deliveries cost while they wait: a tenth of them due to a dead endpoint, the others in an hour. */
export async function million({ waiting = 1_000_000 } = {}): Promise<MillionResult> {
  const world = await startWorld({ timeScale: 1 })
  const batch = Math.min(MOST_AT_ONCE, waiting / APPS)
  try {
    const now = Date.now()
    const began = performance.now()
    for (let made = 0; made < waiting; made += batch) {
      const index = (made / batch) % APPS
      const dead = index % 10 === 0
      const at = new Date(dead ? now - HOUR_MS + made / batch : now + HOUR_MS + made / batch)
      const appId = dead ? 'dead' : `app ${index}`
      await Deliveries.collection.insertMany(documents({ appId, count: batch, at }) as never[], { ordered: false })
      await bringLanesForward(new Map([[appId, at]]))
    }
    const insertSeconds = (performance.now() - began) / 1_000
    const idle: number[] = []
    const claims: number[] = []
    const dead: number[] = []
    for (let look = 0; look < LOOKS; look++) {
      const at = new Date()
      idle.push(await timed(() => dueLanes({ now: at, except: ['dead'], limit: 50 })))
      await Deliveries.collection.insertMany(documents({ appId: 'alive', count: 10, at }) as never[])
      await bringLanesForward(new Map([['alive', at]]))
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
    return { waiting, insertSeconds, idleLookMs: median(idle), claimMs: median(claims), deadClaimMs: median(dead) }
  } finally {
    await world.stop()
  }
}
