import type { ChildProcess } from 'node:child_process'
import fc from 'fast-check'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { paceIdOf } from '../../../actors/sync/pace.ts'
import { MINUTE, SECOND } from '../../../core/clock.ts'
import { type Connection, Connections } from '../../../schemas/connection/connection.ts'
import { type ActorWorld, startActorWorld } from '../../support/actors.ts'
import { until } from '../../support/until.ts'
import { end, startReader, startSiteProcess } from './pace/processes.ts'
import { mostWithin, type Reader, type Schedule, simulate } from './pace/simulation.ts'
import { connected, connectionOf, storedOf } from './support.ts'

const pace = suite('the pace of one account')

/** Of the way to the provider and of a turn's use, in machine ms: what the pace has to make up for. */
const marginMs = (timeScale: number) => Math.max(SECOND / timeScale, 25)

const schedules = fc
  .record({ timeScale: fc.constantFrom(1, 60, 1000), requestsPerMinute: fc.constantFrom(1, 7, 60, 150) })
  .chain(({ timeScale, requestsPerMinute }): fc.Arbitrary<Schedule> => {
    const margin = Math.floor(marginMs(timeScale))
    const turn = MINUTE / timeScale / requestsPerMinute
    const reader: fc.Arbitrary<Reader> = fc.record({
      workers: fc.integer({ min: 1, max: 4 }),
      workMs: fc.integer({ min: 0, max: Math.ceil(3 * turn) }),
      troubles: fc.array(
        fc.record({
          afterMs: fc.integer({ min: 0, max: Math.ceil(requestsPerMinute * turn) }),
          kind: fc.constantFrom('stall', 'stall', 'crash', 'idle'),
          ms: fc.integer({ min: 0, max: 5 * margin }),
        }),
        { maxLength: 12 },
      ),
    })
    return fc.record({
      timeScale: fc.constant(timeScale),
      requestsPerMinute: fc.constant(requestsPerMinute),
      readers: fc.array(reader, { minLength: 1, maxLength: 4 }),
      databaseMs: fc.array(fc.integer({ min: 0, max: 2 * margin }), { minLength: 1, maxLength: 5 }),
      wayMs: fc.array(fc.integer({ min: 0, max: margin }), { minLength: 1, maxLength: 5 }),
    })
  })

pace('in no minute arrive more requests than allowed, whatever stalls, crashes and idles', async () => {
  await fc.assert(
    fc.asyncProperty(schedules, async (schedule) => {
      const { requestsPerMinute, timeScale } = schedule
      const minute = MINUTE / timeScale
      const requests = 3 * requestsPerMinute + 20
      const { arrivals } = await simulate(schedule, { requests, withinMs: 100 * minute * requests })
      assert.ok(arrivals.length >= requests, 'the reading goes on')
      const most = mostWithin(arrivals, minute)
      assert.ok(most <= requestsPerMinute, `${most} requests within a minute`)
    }),
    { numRuns: 200, includeErrorInReport: true },
  )
})

const alone = ({ reader, ...more }: Partial<Schedule> & { reader?: Partial<Reader> } = {}): Schedule => ({
  requestsPerMinute: 60,
  timeScale: 1,
  readers: [{ workers: 4, workMs: 0, troubles: [], ...reader }],
  databaseMs: [2],
  wayMs: [0],
  ...more,
})

pace('a request as late as can be and one at its time are a minute apart', async () => {
  // The answer to the reservation comes when the turn is about to be forfeited.
  const schedule = alone({ requestsPerMinute: 1, databaseMs: [0, SECOND], wayMs: [SECOND, 0] })
  const { arrivals } = await simulate(schedule, { requests: 2, withinMs: 10 * MINUTE })
  assert.equal(arrivals, [2 * SECOND, 2 * SECOND + MINUTE])
})

pace('requests back to back come nearly as fast as allowed', async () => {
  const { arrivals } = await simulate(alone(), { requests: 600, withinMs: 20 * MINUTE })
  const [last = Number.POSITIVE_INFINITY] = arrivals.slice(-1)
  assert.ok(last < 10 * MINUTE * 1.04, `600 in ${last / MINUTE} minutes`)
})

pace('the first request, and the first after an idle spell, wait for nothing but the reservation', async () => {
  const idle = { afterMs: 10 * SECOND, kind: 'idle' as const, ms: 100 * SECOND }
  const schedule = alone({ reader: { workers: 1, troubles: [idle] } })
  const { arrivals } = await simulate(schedule, { requests: 30, withinMs: 10 * MINUTE })
  assert.is(arrivals[0], 4, 'the way to the database and back')
  const after = arrivals.find((arrival) => arrival >= 110 * SECOND)
  assert.ok(after !== undefined && after <= 110 * SECOND + 10, `at ${after}`)
})

pace('without a limit to speak of, requests cost neither writes nor timers', async () => {
  const schedule = alone({ requestsPerMinute: 1_000_000, reader: { workMs: 1 } })
  const { reservations, sleeps } = await simulate(schedule, { requests: 20_000, withinMs: MINUTE })
  // A worker's own pause is no wait for a turn.
  assert.ok(reservations <= 200, `${reservations} reservations`)
  assert.ok(sleeps <= 1_000, `${sleeps} timers`)
})

pace('a database that is slower than any turn lasts does not end the reading', async () => {
  const schedule = alone({ timeScale: 1000, databaseMs: [400] })
  const { arrivals } = await simulate(schedule, { requests: 500, withinMs: MINUTE })
  assert.ok(arrivals.length >= 500)
})

/** Slow enough that what a busy machine holds up, the site's log among it, is little beside margins of a quarter of a second. */
const REAL = { timeScale: 4, requestsPerMinute: 60 }
/** After so many requests a reader is killed and another started: early, so that whole minutes without a lost turn follow. */
const KILLS_AFTER = [20, 40]
const REQUESTS = 150
const EMAIL = 'bulk-1000+polite@example.test'

type Logged = { at: string; path: string }

/** Syncs an account of two apps while processes of their own read it as well, stall, idle and are killed. Returns the site's log of it. */
async function readSideBySide(world: ActorWorld): Promise<Logged[]> {
  const { site, runtime } = world
  await world.makeApp('app-two')
  const ids = [
    await connected(world, { userRef: 'polite', email: EMAIL }),
    await connected(world, { userRef: 'polite', email: EMAIL, appId: 'app-two' }),
  ]
  const { provider } = await connectionOf(ids[0] ?? '')
  const session = await site.client({ cookie: await site.signIn(EMAIL) }).session()
  if (!session.usable) throw new Error(session.reason)
  const paceId = paceIdOf({ ...runtime, provider, providerAccountId: session.account.id })
  // The logins' own looks at the session are none of the reading.
  const begin = new Date().toISOString()
  const requests = async () =>
    (await site.control<{ requests: Logged[] }>({ action: 'log' })).requests.filter(({ at }) => at >= begin)
  const arrived = (count: number) =>
    until('requests', async () => (await requests()).length >= count, { giveUpMs: 90_000 })
  const readers: ChildProcess[] = []
  const addReader = async (): Promise<void> => {
    const credential = { databaseUrl: runtime.config.MONGODB_URL, site: site.url, cookie: await site.signIn(EMAIL) }
    readers.push(await startReader({ ...REAL, ...credential, paceId }))
  }
  try {
    await Promise.all([addReader(), addReader(), addReader()])
    for (const count of KILLS_AFTER) {
      await arrived(count)
      const [victim] = readers.splice(0, 1)
      if (victim) await end(victim, 'SIGKILL')
      await addReader()
    }
    await arrived(REQUESTS)
    return await requests()
  } finally {
    await Promise.all(readers.map((reader) => end(reader, 'SIGKILL')))
  }
}

pace('a sync and other readers of its account, which stall, idle and are killed, stay within its rate', async () => {
  const world = await startActorWorld({ timeScale: REAL.timeScale, site: await startSiteProcess(REAL) })
  try {
    const requests = await readSideBySide(world)
    for (const path of ['/api/auth/session', '/backend-api/conversations', '/backend-api/conversation/', '/files/'])
      assert.ok(
        requests.some((request) => request.path.startsWith(path)),
        path,
      )
    const arrivals = requests.map(({ at }) => Date.parse(at))
    const most = mostWithin(arrivals, MINUTE / REAL.timeScale)
    assert.ok(most <= REAL.requestsPerMinute, `${most} requests within a minute`)
    const connections = await Connections.find().lean<Connection[]>()
    const stored = await Promise.all(connections.map(async (connection) => (await storedOf(connection)).length))
    assert.is(stored.length, 2)
    assert.ok(
      stored.every((count) => count > 5),
      `both syncs had their turns: ${stored}`,
    )
  } finally {
    await world.stop()
  }
})

pace.run()
