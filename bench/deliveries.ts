import { fork } from 'node:child_process'
import { once } from 'node:events'
import { newId } from '../core/ids.ts'
import { agenda } from './deliveries/agenda.ts'
import { bareLoop } from './deliveries/bare.ts'
import { ours } from './deliveries/ours.ts'

/** Every contestant has this many posts under way at once, and posts to the same receiver. */
const AT_ONCE = 256
const ROUNDS = 3

export interface DeliveriesResult {
  /** Per second, the median of the rounds. */
  bare: number
  ours: number
  agenda: number
  /** `ours` against the other two; the goals are at least 0.3 and at least 5. */
  ofBare: number
  timesAgenda: number
}

const bodyOf = (index: number): string =>
  JSON.stringify({
    event: 'test.event',
    payload: { userRef: 'user-1', message: `event ${index}` },
    deliveryId: newId(),
  })

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

/**
 * Deliveries a second from event to recorded 2xx, beside a bare loop that signs and posts without any database, and the `agenda`
 * package doing the same job on the same database. The contestants take turns, so that a busy machine is busy for all of them.
 */
export async function benchDeliveries({ events = 5_000, jobs = 500 } = {}): Promise<DeliveriesResult> {
  const receiver = fork(new URL('deliveries/receiver.ts', import.meta.url), { execArgv: ['--import', 'tsx'] })
  const [url] = (await once(receiver, 'message')) as [string]
  const bodies = (count: number) => Array.from({ length: count }, (_, index) => bodyOf(index))
  const rounds = { bare: [] as number[], ours: [] as number[], agenda: [] as number[] }
  try {
    for (let round = 0; round < ROUNDS; round++) {
      rounds.bare.push(await bareLoop({ url, bodies: bodies(events), loops: AT_ONCE }))
      rounds.ours.push(await ours({ url, count: events }))
      rounds.agenda.push(await agenda({ url, bodies: bodies(jobs), atOnce: AT_ONCE }))
    }
  } finally {
    receiver.disconnect()
  }
  const result = { bare: median(rounds.bare), ours: median(rounds.ours), agenda: median(rounds.agenda) }
  return { ...result, ofBare: result.ours / result.bare, timesAgenda: result.ours / result.agenda }
}

if (import.meta.filename === process.argv[1])
  process.stdout.write(
    `${JSON.stringify(await benchDeliveries(), (_, value) => (typeof value === 'number' ? Number(value.toPrecision(3)) : value))}\n`,
  )
