import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { BEST_QUALITY, createLinkQuality } from '../../browser-farm/link-quality.ts'
import { FRAMES_IN_FLIGHT } from '../../wire/stream-constants.ts'
import { virtualClock } from '../support/virtual-clock.ts'

const QUICK_MS = 40
const SLOW_MS = 400
const POOR_MS = 10_000

function createLink() {
  const clock = virtualClock(new Date(0))
  const told: number[] = []
  const link = createLinkQuality({ clock, onQuality: (quality) => told.push(quality) })
  let frame = 0
  /** Frames one after the other, each acknowledged after so many ms. */
  const pass = (frames: number, tookMs: number): void => {
    for (let count = 0; count < frames; count++) {
      link.sent(++frame)
      clock.jump(new Date(clock.elapsed() + tookMs))
      link.acknowledged(frame)
    }
  }
  return { link, told, pass }
}

test('a link that keeps up has the best picture, and two frames under way', () => {
  const { link, told, pass } = createLink()
  pass(1_000, QUICK_MS)
  assert.equal(told, [])
  assert.is(link.inFlight(), FRAMES_IN_FLIGHT)
})

test('a distance that is the same for every frame is not slowness', () => {
  const { told, pass } = createLink()
  pass(1_000, SLOW_MS)
  assert.equal(told, [])
})

test('a link that is slow from the beginning has the simplest picture, however even it is', () => {
  const { link, told, pass } = createLink()
  pass(10, POOR_MS)
  assert.ok(told.length >= 2, told.join())
  assert.is(link.inFlight(), 1)
})

test('late frames make the picture simpler, down to a limit; frames in time make it better again', () => {
  const { link, told, pass } = createLink()
  pass(1, QUICK_MS)
  pass(100, SLOW_MS)
  assert.equal(
    told,
    told.toSorted((one, other) => other - one),
  )
  assert.ok(told.length >= 2 && told.every((quality) => quality < BEST_QUALITY), told.join())
  assert.is(link.inFlight(), 1)
  pass(1_000, QUICK_MS)
  assert.is(told.at(-1), BEST_QUALITY)
  assert.is(link.inFlight(), FRAMES_IN_FLIGHT)
})

test('one late frame says nothing', () => {
  const { told, pass } = createLink()
  pass(10, QUICK_MS)
  pass(1, SLOW_MS)
  pass(10, QUICK_MS)
  assert.equal(told, [])
})

test.run()
