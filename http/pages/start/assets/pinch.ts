import { isZoomed, zoomAndMove } from './screen-view.ts'

/** Farther than this (CSS pixels) one finger moves a picture that is zoomed; until then it taps. */
const MOVE_PX = 8

interface Spot {
  x: number
  y: number
  /** Between two fingers. */
  distance: number
}

/** Two fingers zoom and move the picture, one moves it while it is zoomed: the remote page knows nothing of that. Returns whether a touch is such a one. */
export function createPinch(): (event: TouchEvent) => boolean {
  let last: Spot | undefined
  let from: Spot | undefined
  let isOurs = false
  return ({ type, targetTouches: touches }) => {
    const spot = spotOf(touches)
    if (type === 'touchstart') {
      if (touches.length === 1) isOurs = false
      if (touches.length > 1) isOurs = true
      from = spot
    } else if (type === 'touchmove' && spot) {
      const moved = from ? Math.hypot(spot.x - from.x, spot.y - from.y) : 0
      if (!isOurs && isZoomed() && moved > MOVE_PX) isOurs = true
      if (isOurs && last) {
        const factor = last.distance > 0 && spot.distance > 0 ? spot.distance / last.distance : 1
        zoomAndMove({ factor, at: spot, by: { x: spot.x - last.x, y: spot.y - last.y } })
      }
    }
    last = type === 'touchmove' || type === 'touchstart' ? spot : spotOf(touches)
    return isOurs
  }
}

function spotOf(touches: TouchList): Spot | undefined {
  const [one, two] = touches
  if (!one) return undefined
  if (!two) return { x: one.clientX, y: one.clientY, distance: 0 }
  return {
    x: (one.clientX + two.clientX) / 2,
    y: (one.clientY + two.clientY) / 2,
    distance: Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY),
  }
}
