import { z } from 'zod'
import { LARGEST_SCALE, LARGEST_SIDE, MOST_PIXELS, SMALLEST_SIDE } from './stream-constants.ts'

const side = z.int().min(SMALLEST_SIDE).max(LARGEST_SIDE)

/** The screen that a visitor's page asks for: CSS pixels, device pixels for each of them, and whether it is a phone's. */
export const viewportShape = z
  .strictObject({
    width: side,
    height: side,
    deviceScaleFactor: z.number().min(1).max(LARGEST_SCALE),
    mobile: z.boolean(),
  })
  .refine(
    ({ width, height, deviceScaleFactor }) => width * height * deviceScaleFactor ** 2 <= MOST_PIXELS,
    'is too large',
  )
