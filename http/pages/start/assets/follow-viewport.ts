import type { Clock, Timer } from '../../../../core/clock.ts'
import { LARGEST_SCALE, LARGEST_SIDE, MOST_PIXELS, SMALLEST_SIDE } from '../../../../wire/stream-constants.ts'
import { find } from '../../kit/assets/dom.ts'
import type { Send } from './pointer.ts'
import { remote } from './screen.ts'

const LARGEST_DESKTOP = { width: 1_440, height: 960 }
/** A window is resized in many steps, a phone turned in some. */
const SETTLED_MS = 250

const stage = find('.stage')

/** The remote screen that fits this page now, as if no keyboard of a device lay over it. */
export function wantedViewport({ mobile }: { mobile: boolean }) {
  const largest = mobile ? { width: LARGEST_SIDE, height: LARGEST_SIDE } : LARGEST_DESKTOP
  const around = document.body.clientHeight - stage.clientHeight
  const side = (value: number, most: number): number => Math.floor(Math.min(Math.max(SMALLEST_SIDE, value), most))
  const width = side(stage.clientWidth, largest.width)
  // Not the window's own height, which grows where the page is zoomed out.
  const height = side(document.documentElement.clientHeight - around, largest.height)
  const sharpest = Math.min(LARGEST_SCALE, Math.sqrt(MOST_PIXELS / (width * height)))
  const deviceScaleFactor = Math.max(1, Math.floor(Math.min(devicePixelRatio, sharpest) * 100) / 100)
  return { width, height, deviceScaleFactor, mobile }
}

/** Has the remote screen follow the window: turned, resized, or with a bar more or less. Returns what looks at it again. */
export function followViewport({
  send,
  mobile,
  clock,
}: {
  send: Send
  mobile: boolean
  clock: Pick<Clock, 'timer'>
}): () => void {
  let timer: Timer | undefined
  const tell = (): void => {
    const viewport = wantedViewport({ mobile })
    const isSame = viewport.width === remote.width && viewport.height === remote.height
    if (isSame || isForKeyboard(viewport.width)) return
    send({ type: 'viewport', viewport })
  }
  /** Some browsers make the window itself lower for a keyboard. */
  const isForKeyboard = (width: number): boolean =>
    matchMedia('(pointer: coarse)').matches &&
    width === remote.width &&
    document.activeElement instanceof HTMLInputElement &&
    document.documentElement.clientHeight < remote.height
  const look = (): void => {
    timer?.cancel()
    timer = clock.timer(SETTLED_MS, tell)
  }
  addEventListener('resize', look)
  new ResizeObserver(look).observe(stage)
  return look
}
