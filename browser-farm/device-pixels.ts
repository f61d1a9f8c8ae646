import type { CDPSession } from 'playwright'
import type { Viewport } from '../schemas/lease/lease.ts'

/** More pixels to a CSS pixel than this are not told apart at a hand's distance. */
const SHARPEST = 3
/** CSS pixels of one side, and device pixels in all (4K UHD): what one screen may ask of a node that others share. */
const SHORTEST_SIDE = 240
const LONGEST_SIDE = 2_560
const MOST_PIXELS = 3_840 * 2_160

/** The screen that a lease asks for, within what a node gives. A large one is less sharp rather than cut off. */
export function boundedViewport({ width, height, deviceScaleFactor, mobile }: Viewport): Viewport {
  const [boundedWidth, boundedHeight] = [boundedSide(width), boundedSide(height)]
  const sharpest = Math.min(SHARPEST, Math.sqrt(MOST_PIXELS / (boundedWidth * boundedHeight)))
  return {
    width: boundedWidth,
    height: boundedHeight,
    deviceScaleFactor: Math.max(1, Math.min(deviceScaleFactor, sharpest)),
    mobile,
  }
}

/** The same screen in another size; as sharp as before, so it is lower where it would have too many pixels. */
export function resized(viewport: Viewport, size: { width: number; height: number }): Viewport {
  const { width, height } = boundedViewport({ ...viewport, ...size })
  const lowest = Math.floor(MOST_PIXELS / (width * viewport.deviceScaleFactor ** 2))
  return { ...viewport, width, height: Math.min(height, lowest) }
}

const boundedSide = (side: number): number => Math.round(Math.min(Math.max(side, SHORTEST_SIDE), LONGEST_SIDE))

/**
 * Lets the screencast of a page have every device pixel: by itself it has CSS pixels, whatever the page's ratio is. The page is shown as many
 * times larger on a screen of that size, so places on the screen are device pixels too, in input and in a frame's metadata.
 */
export async function showDevicePixels(cdp: CDPSession, viewport: Viewport): Promise<void> {
  const { width, height, deviceScaleFactor: scale, mobile } = viewport
  await Promise.all([
    cdp.send('Emulation.setDeviceMetricsOverride', {
      width,
      height,
      screenWidth: width,
      screenHeight: height,
      deviceScaleFactor: scale,
      scale,
      mobile,
      screenOrientation:
        width > height ? { type: 'landscapePrimary', angle: 90 } : { type: 'portraitPrimary', angle: 0 },
    }),
    cdp.send('Emulation.setVisibleSize', { width: Math.round(width * scale), height: Math.round(height * scale) }),
  ])
}
