import { until } from '../../support/until.ts'
import { check } from './check.ts'
import { letThemHappen } from './faults.ts'
import { emptyHistory, type History } from './history.ts'
import { hostedLogins } from './hosted.ts'
import { randomOf } from './random.ts'
import { faultsOf } from './schedule.ts'
import { settle } from './settle.ts'
import { type ChaosUser, live } from './user.ts'
import { startChaosWorld } from './world.ts'

const USERS = 6
/** So many conversations has each account in the beginning: some are read in a moment, some take a while. */
const SIZES = [3, 30, 120] as const
/** Users of one app come from everywhere, apart from these two, who share a computer and its account. */
const SHARED = 'bulk-20+shared@example.test'

/** Where less than this of a kind was acknowledged the run shows nothing: on a busy machine users go on for so long after the last fault. */
const LEAST_ACKNOWLEDGED = 3
const GO_ON_MS = 120_000

/**
 * Runs the whole service for `forMs`, lets go wrong what the seed says, waits until all has settled, and checks that everything that was
 * acknowledged holds. The same seed has the same schedule. Returns what does not hold, with what happened.
 */
export async function runChaos({
  seed,
  forMs,
  say = () => undefined,
}: {
  seed: string
  forMs: number
  say?: (text: string) => void
}): Promise<{ wrong: string[]; notes: string[]; log: string }> {
  const random = randomOf(seed)
  const faults = faultsOf({ random: random.of('faults'), forMs })
  const users = Array.from(
    { length: USERS },
    (_, index): ChaosUser => ({
      userRef: `user-${index}`,
      accounts: { own: `bulk-${random.pick(SIZES)}+user-${index}@example.test`, shared: SHARED },
    }),
  )
  const history = emptyHistory()
  const note = (text: string): void => {
    history.notes.push(`${Math.round(performance.now())} ${text}`)
    say(text)
  }
  const world = await startChaosWorld({ note })
  try {
    let over = false
    const lives = users.map((user) =>
      live({ world, history, user, random: random.of(user.userRef), isOver: () => over }),
    )
    const hosted = hostedLogins({ world, history, isOver: () => over })
    await letThemHappen({ faults, world, note })
    note('nothing goes wrong any more')
    const shown = await until(
      `${LEAST_ACKNOWLEDGED} of each kind to be acknowledged`,
      () => Object.values(acknowledgedOf(history)).every((count) => count >= LEAST_ACKNOWLEDGED),
      { giveUpMs: GO_ON_MS },
    ).then(
      () => [],
      (error: unknown) => [String(error)],
    )
    over = true
    await Promise.all([...lives, hosted])
    note('everybody has an answer')
    const unsettled = await settle(world).then(
      () => [],
      (error: unknown) => [String(error)],
    )
    note('settled')
    const wrong = [...shown, ...unsettled, ...(await check({ world, history, users }))]
    const { flows, purges, ingestions } = history
    note(
      `acknowledged: ${JSON.stringify(acknowledgedOf(history))} of ${flows.length}, ${purges.length} and ${ingestions.length}; ` +
        `${world.receiver.events().length} events in ${world.receiver.requests.length} requests`,
    )
    return { wrong, notes: history.notes, log: `${world.service.log()}\n${await world.databaseLog()}` }
  } finally {
    await world.stop()
  }
}

const acknowledgedOf = ({ flows, purges, ingestions }: History) => ({
  connects: flows.filter(({ connected }) => connected).length,
  purges: purges.filter(({ doneAt }) => doneAt).length,
  ingestions: ingestions.filter(({ doneAt }) => doneAt).length,
})
