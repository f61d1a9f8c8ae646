import { median, printRow, rounded, timed } from '../row.ts'
import { type Load, requestsPerSecond } from './load.ts'

const ROUNDS = 5
const ROUND_MS = 2_000

/** The two take turns, so that a busy machine is busy for both. */
async function takeTurns(
  ours: () => Promise<number>,
  floor: () => Promise<number>,
  rounds: number,
): Promise<{ ours: number; floor: number; ratio: number }> {
  const seen = { ours: [] as number[], floor: [] as number[] }
  for (let round = 0; round < rounds; round += 1) {
    seen.ours.push(await ours())
    seen.floor.push(await floor())
  }
  const ratio = median(seen.ours.map((value, round) => value / (seen.floor[round] ?? 1)))
  return { ours: median(seen.ours), floor: median(seen.floor), ratio }
}

/** Requests a second that are answered, ours against the floor's. */
export async function compareRates({
  what,
  ours,
  floor,
  goal,
}: {
  what: string
  ours: Load
  floor: Load
  goal: number
}): Promise<void> {
  const rate = (load: Load) => () => requestsPerSecond(load, ROUND_MS)
  await requestsPerSecond(ours, ROUND_MS / 2)
  await requestsPerSecond(floor, ROUND_MS / 2)
  const { ratio, ...rates } = await takeTurns(rate(ours), rate(floor), ROUNDS)
  const [perSecond, floorPerSecond] = [`${rounded(rates.ours)}/s`, `${rounded(rates.floor)}/s`]
  printRow({ what, ours: perSecond, floor: floorPerSecond, ratio, goal: { atLeast: goal } })
}

/** What one call takes (ms), ours against the floor's; `before` each goes uncounted. */
export async function compareTimes({
  what,
  ours,
  floor,
  before = async () => undefined,
  goal,
  rounds = 25,
}: {
  what: string
  ours: () => Promise<unknown>
  floor: () => Promise<unknown>
  before?: () => Promise<unknown>
  goal: number
  rounds?: number
}): Promise<void> {
  const time = (call: () => Promise<unknown>) => async () => {
    await before()
    return timed(call)
  }
  await takeTurns(time(ours), time(floor), 2)
  const { ratio, ...times } = await takeTurns(time(ours), time(floor), rounds)
  printRow({
    what,
    ours: `${rounded(times.ours)} ms`,
    floor: `${rounded(times.floor)} ms`,
    ratio,
    goal: { atMost: goal },
  })
}
