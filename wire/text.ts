import { z } from 'zod'

/** The longest id of anything that others name: apps, links, providers, scopes. */
export const LONGEST_ID = 256

/** Characters of a userRef at most. */
export const USER_REF_LENGTH = 512

/** Text that every database keeps as it is: no NUL, no half of a surrogate pair. */
export const isStorable = (text: string): boolean => !/\0|\p{Surrogate}/u.test(text)

/** Text from outside: 1 to `longest` characters that a database can hold. */
export const text = (longest: number) =>
  z
    .string({ error: ({ input }) => wrongType(input) })
    .min(1, 'is empty')
    .max(longest, `is longer than ${longest} characters`)
    .refine(isStorable, 'is no valid text')

/** One line of it that somebody names a thing with, of 1 to `longest` characters: nothing in it that a line does not show, or that ends it. */
export const line = (longest: number) =>
  z
    .string({ error: ({ input }) => wrongType(input) })
    .trim()
    .min(1, 'is empty')
    .max(longest, `is longer than ${longest} characters`)
    .refine((value) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(value), 'has a line break or a control character')
    .refine(isStorable, 'is no valid text')

/** A UUID in lower case, as every id of this service is stored. */
export const uuid = z
  .uuid({ error: ({ input }) => (typeof input === 'string' ? 'must be a UUID' : wrongType(input)) })
  .transform((value) => value.toLowerCase())

/** A moment as ISO 8601 with a time zone. */
export const moment = z.iso
  .datetime({
    offset: true,
    error: ({ input }) => (typeof input === 'string' ? 'must be an ISO 8601 time with a time zone' : wrongType(input)),
  })
  .transform((value) => new Date(value))
  // Beyond the years that a date can hold.
  .refine((date) => !Number.isNaN(date.getTime()), 'must be an ISO 8601 time with a time zone')

/** A whole number as it stands in a query. */
export const wholeNumber = ({ least, most }: { least: number; most: number }) =>
  z
    .string({ error: ({ input }) => wrongType(input) })
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= least, `must be at least ${least}`)
    .refine((value) => value <= most, `must be at most ${most}`)
    // As the API description tells it: in a query everything is text, and a number all the same.
    .meta({ type: 'integer', minimum: least, ...(Number.isFinite(most) && { maximum: most }) })

function wrongType(input: unknown): string {
  if (input === undefined) return 'is missing'
  return Array.isArray(input) ? 'must be given once' : 'must be a string'
}
