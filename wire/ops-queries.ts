import { z } from 'zod'
import { LONGEST_ID, moment, text, USER_REF_LENGTH, wholeNumber } from './text.ts'

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

/** GET /ops/deliveries: `q` is one delivery's id. */
export const deliveriesQuery = listingQuery.extend({
  state: z.enum(['waiting', 'delivered', 'dropped'], 'must be waiting, delivered or dropped').optional(),
})

/** POST /ops/deliveries/retry, in the query or the body: deliveries that were dropped since then, of one app or of all. */
export const retryManyInput = z.object({ since: moment, appId: text(LONGEST_ID).optional() })

/** POST /ops/purge */
export const opsPurgeQuery = z.object({ dryRun: z.enum(['true', 'false'], 'must be true or false').default('false') })
