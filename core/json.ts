const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const OPEN_OBJECT = 0x7b

/** Deeper than any provider's answer is; a level more than that is an attack on whoever walks or stores the value. */
export const MAX_JSON_DEPTH = 100

/**
 * A value takes a hundred bytes of memory or more, whatever its text takes: 64 MiB of `{}` are above a gigabyte. A conversation of
 * 20,000 messages has fewer than this.
 */
export const MAX_JSON_VALUES = 1_000_000

/** More values than may be held in memory at a time. */
export class TooManyValuesError extends SyntaxError {
  override name = 'TooManyValuesError'
}

/**
 * Parses JSON text that came from outside. Throws a `SyntaxError` for what is no JSON, is nested deeper than `maxDepth`
 * or has a key `__proto__`; before it is parsed a `TooManyValuesError` for more than `maxValues`.
 */
export function parseJson(
  text: string,
  { maxDepth = MAX_JSON_DEPTH, maxValues = MAX_JSON_VALUES }: { maxDepth?: number; maxValues?: number } = {},
): unknown {
  if (text.length > maxValues) checkValues(text, maxValues)
  const value: unknown = JSON.parse(text)
  if (isContainer(value)) check(value, maxDepth)
  return value
}

/** Counts what may begin a value: the text's start, an opening bracket, a comma. An empty container counts for two. */
function checkValues(text: string, maxValues: number): void {
  let values = 1
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (inString) {
      if (code === BACKSLASH) i++
      else if (code === QUOTE) inString = false
    } else if (code === QUOTE) inString = true
    else if (code === COMMA || code === OPEN_ARRAY || code === OPEN_OBJECT) {
      if (++values > maxValues) throw new TooManyValuesError(`JSON has more than ${maxValues} values`)
    }
  }
}

/** Recurses no deeper than `levels`, and makes nothing on its way: every answer of a provider goes through here. */
function check(container: object, levels: number): void {
  if (levels === 0) throw new SyntaxError('JSON is nested too deep')
  if (Array.isArray(container)) {
    for (const child of container as unknown[]) if (isContainer(child)) check(child, levels - 1)
    return
  }
  const object = container as Record<string, unknown>
  for (const key in object) {
    if (key === '__proto__') throw new SyntaxError('JSON has a key "__proto__"')
    const child = object[key]
    if (isContainer(child)) check(child, levels - 1)
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
