import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Deliveries, type Delivery } from '../../../schemas/delivery/delivery.ts'
import { until } from '../../support/until.ts'
import { startEndpoint } from './receiver.ts'
import { happen, startWorld, testEvent } from './world.ts'

const CHILD = new URL('child.ts', import.meta.url)
/** An interrupted attempt is found when its claim has run out (15 s); six of them in a row are the worst. */
const GIVE_UP_MS = 240_000
/** From the events to the kill: anywhere between the relay's first look and the last answer. */
const LONGEST_LIFE_MS = 250

interface KillingReport {
  events: number
  kills: number
  requests: number
  delivered: number
  dropped: number
  interrupted: number
}

type Fate = { requests: number; successes: number }

/**
 * Lets events happen while two real processes deliver them to a receiver that fails at random, and kills one of the processes with
 * SIGKILL at random moments. Throws where an event did not arrive, arrived under another id, or after its sixth failure.
 */
export async function deliverUnderKills({
  events,
  kills,
  timeScale,
  failing = 0.4,
}: {
  events: number
  kills: number
  timeScale: number
  /** How often the receiver fails, in one way or another. */
  failing?: number
}): Promise<KillingReport> {
  const world = await startWorld({ timeScale })
  const fates = new Map<string, Fate>()
  const endpoint = await startEndpoint((response, { rawBody }) => {
    const { deliveryId } = JSON.parse(rawBody) as { deliveryId: string }
    const fate = fates.get(deliveryId) ?? { requests: 0, successes: 0 }
    const fails = Math.random() < failing
    fates.set(deliveryId, { requests: fate.requests + 1, successes: fate.successes + (fails ? 0 : 1) })
    if (fails && Math.random() < 0.3) response.destroy()
    else setTimeout(() => response.writeHead(fails ? 500 : 204).end(), Math.random() * 30)
  })
  await world.makeApp({ appId: 'killed', webhookUrl: endpoint.url })
  const startChild = async (): Promise<ChildProcess> => {
    const child = fork(CHILD, [world.url, String(timeScale)], { execArgv: ['--import', 'tsx'] })
    await once(child, 'message')
    return child
  }
  const kill = async (child: ChildProcess): Promise<void> => {
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }
  const children = [await startChild(), await startChild()]
  try {
    const expected: string[] = []
    // Events happen right before each kill, so that attempts are under way when it comes.
    for (let killed = 0; killed < kills; killed++) {
      const upTo = Math.round((events * (killed + 1)) / kills)
      const list = Array.from({ length: upTo - expected.length }, (_, index) => testEvent('killed', `${index}`))
      expected.push(...(await happen(list)))
      await sleep(Math.random() * LONGEST_LIFE_MS)
      const [victim] = children.splice(Math.floor(Math.random() * children.length), 1)
      if (victim) await kill(victim)
      children.push(await startChild())
    }
    const ended = { appId: 'killed', state: { $ne: 'waiting' } }
    await until(
      'the end of all deliveries',
      async () => (await Deliveries.collection.countDocuments(ended)) === events,
      {
        giveUpMs: GIVE_UP_MS,
      },
    )
    return judge({ expected, fates, kills, deliveries: await Deliveries.find({ appId: 'killed' }).lean<Delivery[]>() })
  } finally {
    await Promise.all(children.map(kill))
    await endpoint.stop()
    await world.stop()
  }
}

function judge({
  expected,
  fates,
  deliveries,
  kills,
}: {
  expected: string[]
  fates: Map<string, Fate>
  deliveries: Delivery[]
  kills: number
}): KillingReport {
  const wrong: string[] = []
  const known = new Set(expected)
  for (const id of [...fates.keys(), ...deliveries.map(({ _id }) => _id)])
    if (!known.has(id)) wrong.push(`${id} is the deliveryId of no event`)
  for (const { _id, state, attempts } of deliveries) {
    const { requests, successes } = fates.get(_id) ?? { requests: 0, successes: 0 }
    if (requests === 0) wrong.push(`${_id} has not arrived`)
    if (requests > attempts.length) wrong.push(`${_id} was sent ${requests} times in ${attempts.length} attempts`)
    if (attempts.length > 6) wrong.push(`${_id} had ${attempts.length} attempts`)
    if (state === 'delivered' && successes === 0) wrong.push(`${_id} is recorded as delivered, but was not taken`)
    if (state === 'dropped' && attempts.length < 6) wrong.push(`${_id} was dropped after ${attempts.length} attempts`)
  }
  if (deliveries.length !== expected.length) wrong.push(`${deliveries.length} deliveries of ${expected.length} events`)
  if (wrong.length > 0) throw new Error(wrong.slice(0, 20).join('\n'))
  const all = deliveries.flatMap(({ attempts }) => attempts)
  return {
    events: expected.length,
    kills,
    requests: [...fates.values()].reduce((sum, { requests }) => sum + requests, 0),
    delivered: deliveries.filter(({ state }) => state === 'delivered').length,
    dropped: deliveries.filter(({ state }) => state === 'dropped').length,
    interrupted: all.filter(({ error }) => error?.includes('interrupted')).length,
  }
}
