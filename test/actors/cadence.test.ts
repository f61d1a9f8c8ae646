import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { nextSync, type Outcome } from '../../actors/sync/cadence.ts'
import { HOUR, MINUTE, systemClock } from '../../core/clock.ts'

const cadence = suite('sync cadence')
const now = new Date('2026-01-01T00:00:00Z')
const clock = { ...systemClock(), now: () => now, after: (ms: number) => new Date(now.getTime() + ms) }

const next = (outcome: Outcome, foundSomething: boolean, intervalMs?: number) => {
  const { due, intervalMs: interval } = nextSync({ outcome, foundSomething, intervalMs, clock })
  return { waitMs: due && due.getTime() - now.getTime(), interval }
}

cadence('goes on with a backfill after 15 minutes', () => {
  assert.equal(next({ kind: 'more' }, true), { waitMs: 15 * MINUTE, interval: undefined })
})

cadence('comes back 4 hours after something new', () => {
  assert.equal(next({ kind: 'complete' }, true), { waitMs: 4 * HOUR, interval: 4 * HOUR })
  assert.equal(next({ kind: 'complete' }, true, 48 * HOUR), { waitMs: 4 * HOUR, interval: 4 * HOUR })
})

cadence('doubles after nothing new, up to 48 hours', () => {
  const waits: (number | undefined)[] = []
  let interval: number | undefined = 4 * HOUR
  for (let sync = 0; sync < 6; sync += 1) {
    interval = next({ kind: 'complete' }, false, interval).interval
    waits.push(interval)
  }
  assert.equal(
    waits.map((wait) => (wait ?? 0) / HOUR),
    [8, 16, 32, 48, 48, 48],
  )
})

cadence('waits an hour after a rate limit, or longer where the provider says so, and keeps the interval', () => {
  const limited = (retryAfterMs: number | null) => next({ kind: 'rate-limited', retryAfterMs }, false, 8 * HOUR)
  assert.equal(limited(null), { waitMs: HOUR, interval: 8 * HOUR })
  assert.equal(limited(5 * MINUTE), { waitMs: HOUR, interval: 8 * HOUR })
  assert.equal(limited(3 * HOUR), { waitMs: 3 * HOUR, interval: 8 * HOUR })
})

cadence('begins at 4 hours again once a sync that did not come to its end found something new', () => {
  const outcomes: Outcome[] = [
    { kind: 'more' },
    { kind: 'interrupted', resumeInMs: 0 },
    { kind: 'rate-limited', retryAfterMs: null },
    { kind: 'unavailable', reason: 'x' },
    { kind: 'session-ended', reason: 'x' },
  ]
  for (const outcome of outcomes) {
    assert.is(next(outcome, false, 48 * HOUR).interval, 48 * HOUR, outcome.kind)
    const { interval } = next(outcome, true, 48 * HOUR)
    assert.equal(next({ kind: 'complete' }, false, interval), { waitMs: 4 * HOUR, interval: 4 * HOUR }, outcome.kind)
  }
})

cadence('never comes back by itself once the session has ended', () => {
  assert.equal(next({ kind: 'session-ended', reason: 'x' }, false, 4 * HOUR), { waitMs: null, interval: 4 * HOUR })
})

cadence('resumes soon after an interruption', () => {
  assert.equal(next({ kind: 'interrupted', resumeInMs: 5_000 }, false, 4 * HOUR).waitMs, 5_000)
})

cadence.run()
