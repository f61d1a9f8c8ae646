/** Deeper than any provider's answer is; a level more than that is an attack on whoever walks or stores the value. */
export const MAX_JSON_DEPTH = 100

/**
 * Parses JSON text that came from outside. Throws a `SyntaxError` for what is no JSON, is nested deeper than `maxDepth`
 * or has a key `__proto__`. Does not recurse.
 */
export function parseJson(text: string, { maxDepth = MAX_JSON_DEPTH }: { maxDepth?: number } = {}): unknown {
  const value: unknown = JSON.parse(text)
  let level: object[] = isContainer(value) ? [value] : []
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > maxDepth) throw new SyntaxError(`JSON is nested deeper than ${maxDepth} levels`)
    const next: object[] = []
    for (const container of level) {
      if (Object.hasOwn(container, '__proto__')) throw new SyntaxError('JSON has a key "__proto__"')
      for (const child of Object.values(container)) if (isContainer(child)) next.push(child)
    }
    level = next
  }
  return value
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
