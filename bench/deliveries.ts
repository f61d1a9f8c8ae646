import { fork } from 'node:child_process'
import { once } from 'node:events'
import { newId } from '../core/ids.ts'
import { NODE_ARGUMENTS } from '../start/node-arguments.ts'
import { agenda } from './deliveries/agenda.ts'
import { bareLoop } from './deliveries/bare.ts'
import { durableLoop } from './deliveries/durable.ts'
import { startOurs } from './deliveries/ours.ts'
import { median, printRow, rounded } from './row.ts'

/**
 * Deliveries a second from event to recorded 2xx, beside a bare loop that signs and posts without any database, beside the least that
 * jobs which outlive their process take on the same database, and beside the `agenda` package doing the same job there. The contestants take turns, so that a busy machine is busy for all of
 * them; every one has as many posts under way, to the same receiver.
 */
const AT_ONCE = 256
const ROUNDS = 3
/** So many that the first and the last of them do not matter. */
const EVENTS = 10_000
/** Enough for a rate; as many as for the others would take minutes. */
const AGENDA_JOBS = 500

const bodies = (count: number): string[] =>
  Array.from({ length: count }, (_, index) =>
    JSON.stringify({ event: 'test.event', payload: { userRef: 'user-1', message: `${index}` }, deliveryId: newId() }),
  )

const receiver = fork(new URL('deliveries/receiver.ts', import.meta.url), { execArgv: NODE_ARGUMENTS })
const [url] = (await once(receiver, 'message')) as [string]
const firstPost = async (): Promise<number> => {
  receiver.send('again')
  const [at] = (await once(receiver, 'message')) as [number]
  return at
}
const ours = await startOurs({ url, firstPost })
// What a process that has just started is slow at is not what is asked here.
await ours.deliver(EVENTS)
const rates = { bare: [] as number[], ours: [] as number[], durable: [] as number[], agenda: [] as number[] }
for (let round = 0; round < ROUNDS; round++) {
  rates.bare.push(await bareLoop({ url, bodies: bodies(EVENTS), loops: AT_ONCE }))
  rates.ours.push(await ours.deliver(EVENTS))
  rates.durable.push(await durableLoop({ url, bodies: bodies(EVENTS), atOnce: AT_ONCE }))
  rates.agenda.push(await agenda({ url, bodies: bodies(AGENDA_JOBS), atOnce: AT_ONCE }))
}
await ours.stop()
receiver.disconnect()

const perSecond = (list: number[]): string => `${rounded(median(list))}/s`
for (const [floor, what, atLeast] of [
  ['bare', 'a bare loop that signs and posts', 0.5],
  ['durable', 'a loop that notes their begin and end in the same database', 0.5],
  ['agenda', 'agenda on the same database', 5],
] as const)
  printRow({
    what: `deliveries, against ${what}`,
    ours: perSecond(rates.ours),
    floor: perSecond(rates[floor]),
    ratio: median(rates.ours) / median(rates[floor]),
    goal: { atLeast },
  })

// agenda leaves a timer of ten minutes behind for each of its jobs.
process.exit()
