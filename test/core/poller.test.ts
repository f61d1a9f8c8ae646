import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { HOUR, SECOND } from '../../core/clock.ts'
import { createLog } from '../../core/log.ts'
import { startPoller } from '../../core/poller.ts'
import { until } from '../support/until.ts'
import { virtualClock } from '../support/virtual-clock.ts'

const pollers = suite('pollers')
const START = new Date('2026-01-01T00:00:00Z')
const log = createLog({ name: 'test', level: 'silent' })

/** The moments (ms from the start) at which a poller looked for the first `looks` times. */
async function looksOf(
  looks: number,
  { dueAfterMs, found = [] }: { dueAfterMs?: (look: number) => number; found?: number[] },
) {
  const clock = virtualClock(START)
  const at: number[] = []
  const poller = startPoller({
    name: 'test',
    everyMs: 10 * SECOND,
    retryMs: SECOND,
    work: async () => {
      at.push(clock.now().getTime() - START.getTime())
      return found[at.length - 1] ?? 0
    },
    ...(dueAfterMs && { nextDue: async () => new Date(START.getTime() + dueAfterMs(at.length)) }),
    clock,
    log,
  })
  await until('the looks', () => at.length >= looks)
  await poller.stop()
  return at.slice(0, looks)
}

pollers('looks every so often, and again at once where it found something', async () => {
  assert.equal(await looksOf(4, { found: [2, 1] }), [0, 0, 0, 10 * SECOND])
})

pollers('looks when the next is due, and asks for it as often as it would look', async () => {
  assert.equal(await looksOf(2, { dueAfterMs: () => 3 * SECOND }), [0, 3 * SECOND])
  let asked = 0
  const dueAfterMs = () => (++asked <= 3 ? HOUR : 0)
  assert.equal(await looksOf(2, { dueAfterMs }), [0, 30 * SECOND])
})

pollers('what is due and is not found is looked for again after a while', async () => {
  assert.equal(await looksOf(3, { dueAfterMs: () => 0 }), [0, SECOND, 2 * SECOND])
})

pollers.run()
