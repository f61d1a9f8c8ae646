import { FRAME_HEADER_BYTES } from '../../../../wire/stream-constants.ts'
import { find } from '../../kit/assets/dom.ts'

const canvas = find<HTMLCanvasElement>('canvas.screen')
const stage = find('.stage')
const context = canvas.getContext('2d', { alpha: false })

/** CSS pixels of the remote viewport, from the newest frame. */
const remote = { width: 1, height: 1 }

/** Where a point of this page lies on the remote screen. */
export function remotePoint({ clientX, clientY }: { clientX: number; clientY: number }): { x: number; y: number } {
  const { left, top, width, height } = canvas.getBoundingClientRect()
  const x = ((clientX - left) * remote.width) / (width || 1)
  const y = ((clientY - top) * remote.height) / (height || 1)
  return { x: clamp(x, remote.width), y: clamp(y, remote.height) }
}

const clamp = (value: number, size: number): number => Math.round(Math.min(Math.max(value, 0), size - 1) * 10) / 10

/** Shows frames in the order in which they came; tells the number of each once it is drawn. */
export function createFrames({ onDrawn }: { onDrawn: (frame: number) => void }): (message: ArrayBuffer) => void {
  let last: Promise<void> = Promise.resolve()
  const draw = async (message: ArrayBuffer): Promise<void> => {
    const header = new DataView(message)
    const number = header.getUint32(0)
    try {
      const bytes = new Uint8Array(message, FRAME_HEADER_BYTES)
      const bitmap = await createImageBitmap(new Blob([bytes], { type: 'image/jpeg' }))
      resize({ width: header.getUint16(4), height: header.getUint16(6), bitmap })
      context?.drawImage(bitmap, 0, 0)
      bitmap.close()
    } finally {
      onDrawn(number)
    }
  }
  return (message) => {
    last = last.then(() => draw(message)).catch(() => undefined)
  }
}

function resize({ width, height, bitmap }: { width: number; height: number; bitmap: ImageBitmap }): void {
  if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
    canvas.width = bitmap.width
    canvas.height = bitmap.height
  }
  if (remote.width === width && remote.height === height) return
  Object.assign(remote, { width, height })
  canvas.dataset['remoteWidth'] = String(width)
  canvas.dataset['remoteHeight'] = String(height)
  fit()
}

/** Remote height at which the visitor last touched: what stays in sight while the phone's keyboard covers the rest. */
let lastTouched = 0
export const rememberTouch = (y: number): void => {
  lastTouched = y
}

/** As large as the stage allows, never larger than it is; on a phone as wide as the stage, whatever the keyboard leaves of its height. */
function fit(): void {
  const phone = document.body.classList.contains('phone')
  const wide = stage.clientWidth / remote.width
  const scale = Math.min(1, phone ? wide : Math.min(wide, stage.clientHeight / remote.height))
  const height = remote.height * scale
  canvas.style.width = `${remote.width * scale}px`
  canvas.style.height = `${height}px`
  const hidden = Math.max(0, height - stage.clientHeight)
  const shift = Math.min(hidden, Math.max(0, lastTouched * scale - stage.clientHeight / 2))
  canvas.style.transform = phone && hidden > 0 ? `translateY(${-shift}px)` : ''
}
new ResizeObserver(fit).observe(stage)
