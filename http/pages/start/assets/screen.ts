import { createFrameReader, type Frame } from '../../../../wire/frame.ts'
import { find } from '../../kit/assets/dom.ts'
import { fit } from './screen-view.ts'

const canvas = find<HTMLCanvasElement>('canvas.screen')
const context = canvas.getContext('2d', { alpha: false })

/** CSS pixels of the remote viewport, from the newest frame. */
export const remote = { width: 1, height: 1 }

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
  const draw = async ({ number, width, height, jpeg }: Frame): Promise<void> => {
    try {
      const bitmap = await createImageBitmap(new Blob([jpeg as BlobPart], { type: 'image/jpeg' }))
      resize({ width, height, bitmap })
      context?.drawImage(bitmap, 0, 0)
      bitmap.close()
    } finally {
      onDrawn(number)
    }
  }
  const read = createFrameReader((frame) => {
    last = last.then(() => draw(frame)).catch(() => undefined)
  })
  return (message) => read(new Uint8Array(message))
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
  fit(remote)
}
