/** Readers of values that came from outside: each gives the value in the shape asked for or null, and never throws. */

export type JsonObject = { [key: string]: unknown }

/** Later than any clock of today says; times beyond are rubbish. */
const YEAR_2200_MS = Date.UTC(2200, 0, 1)

export function asObject(value: unknown): JsonObject | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
}

/** A field whose name is one of ours; parsed JSON inherits nothing of such a name. */
export function field(object: JsonObject | null, name: string): unknown {
  return object === null ? undefined : object[name]
}

/** An entry whose key came from outside: own ones only, so that `constructor` finds nothing that the object inherits. */
export function entry(object: JsonObject, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

export function asString(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

/** An id: a string that is not empty, or a finite number as one. */
export function asId(value: unknown): string | null {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  return typeof value === 'string' && value !== '' ? value : null
}

/** A count of bytes or pixels. */
export function asCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null
}

/**
 * A provider's time as a date: Unix seconds with a fraction or an ISO 8601 string (without a zone it is UTC). Null for
 * anything else, for zero and before, and for what lies beyond 2200. Both forms cut at the millisecond, so that the list
 * (strings) and the conversation (seconds) give the same date for the same moment.
 */
export function asTime(value: unknown): Date | null {
  const ms = typeof value === 'number' ? fromSeconds(value) : typeof value === 'string' ? fromIso(value) : Number.NaN
  return ms > 0 && ms < YEAR_2200_MS ? new Date(ms) : null
}

/** A double of today's seconds errs by up to a quarter of a microsecond; half a one keeps `….123` from becoming `….122`. */
function fromSeconds(seconds: number): number {
  return Math.floor(seconds * 1000 + 0.0005)
}

function fromIso(text: string): number {
  if (!/^\d{4}-\d\d-\d\d([T ]|$)/.test(text) || text.length > 40) return Number.NaN
  const zoned = /[Zz]$|[+-]\d\d:?\d\d$/.test(text) || !/[T ]/.test(text) ? text : `${text}Z`
  return Date.parse(zoned.replace(' ', 'T'))
}

/** A copy of plain JSON without `__proto__` keys, cut (null) below `depth` levels. */
export function plainCopy(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return null
  if (Array.isArray(value)) return value.map((item) => plainCopy(item, depth - 1))
  const entries = Object.entries(value).filter(([key]) => key !== '__proto__')
  return Object.fromEntries(entries.map(([key, item]) => [key, plainCopy(item, depth - 1)]))
}
