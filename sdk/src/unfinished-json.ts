/**
 * Whether a text that is no valid JSON looks like the beginning of an object: empty, or ended inside a string or before
 * its last bracket was closed.
 */
export function isCutOff(text: string): boolean {
  const trimmed = text.trim()
  if (trimmed === '') return true
  if (!trimmed.startsWith('{')) return false
  let depth = 0
  let inString = false
  for (let index = 0; index < trimmed.length; index += 1) {
    const character = trimmed[index]
    if (inString) {
      if (character === '\\') index += 1
      else if (character === '"') inString = false
    } else if (character === '"') inString = true
    else if (character === '{' || character === '[') depth += 1
    else if (character === '}' || character === ']') depth -= 1
    // The object is closed, so whatever is wrong with the text, it does not lack its end.
    if (depth === 0) return false
  }
  return true
}
