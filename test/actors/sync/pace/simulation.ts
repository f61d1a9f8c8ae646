import { paceOf, type Reserve } from '../../../../actors/sync/pace.ts'
import { type Clock, systemClock } from '../../../../core/clock.ts'

const BEGIN = Date.parse('2026-01-01T00:00:00Z')

/** What happens to a process; times are machine ms. */
interface Trouble {
  /** From the trouble before, or from the start. */
  afterMs: number
  kind: 'stall' | 'crash' | 'idle'
  ms: number
}

export interface Reader {
  /** Requests that it makes side by side. */
  workers: number
  /** From a request's turn to the next request of the same worker. */
  workMs: number
  troubles: Trouble[]
}

export interface Schedule {
  requestsPerMinute: number
  timeScale: number
  readers: Reader[]
  /** How long the way to the database takes, and the way back: used in turn, over and over. */
  databaseMs: number[]
  /** How long requests are on their way to the provider: used in turn, over and over. */
  wayMs: number[]
}

interface Simulation {
  /** When requests arrived at the provider (ms since the start). */
  arrivals: number[]
  reservations: number
  sleeps: number
}

/** Processes that read one account, on a time of our own: everything happens as soon as it may, or as late as the schedule says. */
export async function simulate(
  { requestsPerMinute, timeScale, readers, databaseMs, wayMs }: Schedule,
  { requests, withinMs }: { requests: number; withinMs: number },
): Promise<Simulation> {
  const seen: Simulation = { arrivals: [], reservations: 0, sleeps: 0 }
  const events: { time: number; fn: () => void }[] = []
  let now = 0
  let paceAt = 0
  const at = (time: number, fn: () => void): void => void events.push({ time, fn })
  const inTurn = (values: number[]) => {
    let used = 0
    return () => values[used++ % values.length] ?? 0
  }
  const nextDatabaseMs = inTurn(databaseMs)
  const nextWayMs = inTurn(wayMs)

  const start = ({ workers, workMs, troubles }: Reader, fromMs: number): void => {
    let alive = true
    let stalledUntil = 0
    let idleUntil = 0
    const wake = (time: number, fn: () => void): void =>
      at(time, () => {
        if (!alive) return
        if (now < stalledUntil) wake(stalledUntil, fn)
        else fn()
      })
    const sleep = (ms: number): Promise<void> =>
      new Promise((resolve) => wake(now + Math.max(1, Math.trunc(ms)), resolve))
    const clock: Clock = {
      ...systemClock({ timeScale }),
      now: () => new Date(BEGIN + now),
      elapsed: () => now,
      sleep: (ms) => {
        seen.sleeps += 1
        return sleep(ms)
      },
    }
    const reserve: Reserve = ({ earliest, ms }) =>
      new Promise((resolve) => {
        at(now + nextDatabaseMs(), () => {
          const begin = Math.max(paceAt, earliest.getTime())
          paceAt = begin + ms
          seen.reservations += 1
          wake(now + nextDatabaseMs(), () => resolve(new Date(begin)))
        })
      })
    const pace = paceOf({ requestsPerMinute, clock, reserve, signal: new AbortController().signal })
    const work = async (): Promise<void> => {
      for (;;) {
        await pace()
        seen.arrivals.push(now + nextWayMs())
        await sleep(workMs)
        while (now < idleUntil) await sleep(idleUntil - now)
      }
    }
    wake(fromMs, () => void Array.from({ length: workers }, work))
    let time = fromMs
    for (const [index, { afterMs, kind, ms }] of troubles.entries()) {
      time += afterMs
      const end = time + ms
      at(time, () => {
        if (kind === 'stall') stalledUntil = Math.max(stalledUntil, end)
        if (kind === 'idle') idleUntil = Math.max(idleUntil, end)
        if (kind === 'crash') {
          alive = false
          start({ workers, workMs, troubles: troubles.slice(index + 1) }, end)
        }
      })
      // What comes later happens to the process that is started then.
      if (kind === 'crash') break
    }
  }

  for (const reader of readers) start(reader, 0)
  while (seen.arrivals.length < requests && now <= withinMs) {
    const next = events.reduce((first, event, index) => (event.time < (events[first]?.time ?? 0) ? index : first), 0)
    const [event] = events.splice(next, 1)
    if (!event) break
    now = Math.max(now, event.time)
    event.fn()
    // Whatever that has set off comes to its next wait.
    await new Promise((resolve) => setImmediate(resolve))
  }
  seen.arrivals.sort((a, b) => a - b)
  return seen
}

/** The most arrivals within any `ms`. */
export function mostWithin(arrivals: number[], ms: number): number {
  let most = 0
  let first = 0
  for (const [index, arrival] of arrivals.entries()) {
    while ((arrivals[first] ?? 0) <= arrival - ms) first += 1
    most = Math.max(most, index - first + 1)
  }
  return most
}
