import type { Page } from 'playwright'
import { createFrameReader } from '../../wire/frame.ts'

/** Tells of the picture (JPEG) of each frame that this visitor's page is sent, once it is whole. */
export function hearFrames(page: Page, onPicture: (jpeg: Uint8Array) => void): void {
  page.on('websocket', (socket) => {
    const read = createFrameReader(({ jpeg }) => onPicture(jpeg))
    socket.on('framereceived', ({ payload }) => {
      if (typeof payload !== 'string') read(payload)
    })
  })
}
