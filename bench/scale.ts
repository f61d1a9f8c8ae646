import { setTimeout as wait } from 'node:timers/promises'
import { until } from '../test/support/until.ts'
import { printLimit, printRow, rounded } from './row.ts'
import { type ActorsProcess, startActorsProcess } from './scale/actors-process.ts'
import { startProvider } from './scale/provider.ts'
import { startScaleWorld } from './scale/world.ts'

/**
 * What an actors process costs beside a million sleeping connections and a million waiting deliveries, how late syncs begin when a thousand
 * are due a minute, and how two and three processes share them, one being killed. The floors are limits here, not other programs.
 */
const SLEEPERS = 1_000_000
const DUE = 1_000
const MINUTE_MS = 60_000
const IDLE_MS = 15_000
/** Claims of a process that is killed come back after their 15 s. */
const REBALANCE_MS = 15_000
const MOST = { lateMs: 2_000, load: 0.01, memoryMib: 200 }

const provider = await startProvider()
const world = await startScaleWorld({ site: provider.site })
const first = await startActorsProcess(world.env)
const accounts = Array.from({ length: DUE }, (_, index) => `account-${index}`)

/** How late (ms) each of the accounts' syncs began, and how many began twice. */
async function minute(during: () => void = () => undefined): Promise<{ late: number[]; twice: number }> {
  provider.forget()
  const due = await world.spread(MINUTE_MS)
  setTimeout(during, MINUTE_MS / 2)
  await until('all synced', () => provider.sessions.size >= DUE, { giveUpMs: 2 * MINUTE_MS })
  // A second sync of the same would begin by then.
  await wait(2 * MOST.lateMs)
  const begun = [...provider.sessions]
  return {
    late: begun.map(([account, [at = 0]]) => Math.max(0, at - (due.get(account) ?? 0))).toSorted((a, b) => a - b),
    twice: begun.filter(([, times]) => times.length > 1).length,
  }
}
const p99 = (sorted: number[]): number => sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0

await world.connect(accounts)
await world.connected(DUE)
const alone = await minute()
await world.sleepers(SLEEPERS)
const beside = `beside ${SLEEPERS} sleeping connections and deliveries`
printLimit({
  what: `an idle actors process ${beside}, of a core`,
  value: await first.load(IDLE_MS),
  most: MOST.load,
  unit: '',
})
printLimit({ what: `its memory`, value: await first.memoryMib(), most: MOST.memoryMib, unit: 'MiB' })
const crowded = await minute()
printLimit({
  what: `lateness of ${DUE} syncs a minute ${beside}, p99`,
  value: p99(crowded.late),
  most: MOST.lateMs,
  unit: 'ms',
})
printRow({
  what: 'lateness p99, with the sleepers against without them',
  ours: `${rounded(p99(crowded.late))} ms`,
  floor: `${rounded(p99(alone.late))} ms`,
  ratio: p99(crowded.late) / p99(alone.late),
  goal: { atMost: 1.5 },
})

const processes: ActorsProcess[] = [first]
for (const count of [2, 3]) {
  processes.push(await startActorsProcess(world.env))
  const shared = await minute()
  printLimit({ what: `the same with ${count} processes, p99`, value: p99(shared.late), most: MOST.lateMs, unit: 'ms' })
  printRow({
    what: `syncs that ${count} processes began twice`,
    ours: `${shared.twice}`,
    floor: '0',
    ratio: shared.twice,
    goal: { atMost: 0 },
  })
}
const killed = await minute(() => processes.pop()?.kill())
printLimit({
  what: 'one of three is killed: the longest that a sync waits for another',
  value: killed.late.at(-1) ?? 0,
  most: REBALANCE_MS + MOST.lateMs,
  unit: 'ms',
})

for (const each of processes) await each.stop()
await provider.stop()
await world.stop()
process.exit()
