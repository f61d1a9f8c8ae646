/** Deeper than any provider's answer is; a level more than that is an attack on whoever walks or stores the value. */
export const MAX_JSON_DEPTH = 100

/**
 * Parses JSON text that came from outside. Throws a `SyntaxError` for what is no JSON, is nested deeper than `maxDepth`
 * or has a key `__proto__`.
 */
export function parseJson(text: string, { maxDepth = MAX_JSON_DEPTH }: { maxDepth?: number } = {}): unknown {
  const value: unknown = JSON.parse(text)
  if (isContainer(value)) check(value, maxDepth)
  return value
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
