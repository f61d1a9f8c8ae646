import { type Clock, SECOND } from '../core/clock.ts'
import { FRAMES_IN_FLIGHT } from '../wire/stream-constants.ts'

/** JPEG quality of a moving picture on a link that is fast enough, */
export const BEST_QUALITY = 80
/** and on slower ones. */
const QUALITIES = [BEST_QUALITY, 60, 40]
/** A frame that is under way for this much longer (ms) than the quickest one was is late: movement is not smooth any more. */
const LATE_MS = 150
/** On a link that is slow from the beginning there was no quicker one: this much is late in any case. */
const SLOW_MS = SECOND
/** So many late frames in a row are the link's doing, */
const LATE_FRAMES = 2
/** and so many in time, two seconds of movement, say that a better picture may be tried. */
const TIMELY_FRAMES = 60

/** What a link can bear, by how long frames take to be acknowledged. */
interface LinkQuality {
  sent(frame: number): void
  /** The page has drawn this frame and all before it. */
  acknowledged(frame: number): void
  /** Frames that may be under way: on a slow link a second one only makes the first one later. */
  inFlight(): number
}

export function createLinkQuality({
  clock,
  onQuality,
}: {
  clock: Clock
  /** Told of every change. */
  onQuality: (quality: number) => void
}): LinkQuality {
  const sentAt = new Map<number, number>()
  let quickest = Number.POSITIVE_INFINITY
  let step = 0
  let late = 0
  let timely = 0

  const go = (next: number): void => {
    late = 0
    timely = 0
    const quality = QUALITIES[next]
    if (quality === undefined) return
    step = next
    onQuality(quality)
  }
  const note = (tookMs: number): void => {
    quickest = Math.min(quickest, tookMs)
    const isLate = tookMs - quickest > LATE_MS || tookMs > SLOW_MS
    late = isLate ? late + 1 : 0
    timely = isLate ? 0 : timely + 1
    if (late >= LATE_FRAMES) go(step + 1)
    else if (timely >= TIMELY_FRAMES) go(step - 1)
  }
  return {
    sent: (frame) => sentAt.set(frame, clock.elapsed()),
    acknowledged: (last) => {
      for (const [frame, at] of sentAt) {
        if (frame > last) continue
        sentAt.delete(frame)
        note(clock.elapsed() - at)
      }
    },
    inFlight: () => (step === 0 ? FRAMES_IN_FLIGHT : 1),
  }
}
