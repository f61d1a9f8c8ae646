import { z } from 'zod'
import { LONGEST_ID, text, USER_REF_LENGTH, wholeNumber } from '../../wire/text.ts'

const DEFAULT_LIMIT = 50
const MAX_LIMIT = 200

/** What every listing for operators takes: a page is bounded, and may be of one app only. */
export const listingQuery = z.object({
  limit: wholeNumber({ least: 1, most: Number.POSITIVE_INFINITY })
    .transform((limit) => Math.min(limit, MAX_LIMIT))
    .default(DEFAULT_LIMIT),
  appId: text(LONGEST_ID).optional(),
  q: z
    .literal('')
    .transform(() => undefined)
    .or(text(USER_REF_LENGTH))
    .optional(),
  state: text(LONGEST_ID).optional(),
})

/** ISO 8601, or null for what has not happened. */
export const isoOrNull = (date: Date | null | undefined): string | null => date?.toISOString() ?? null
