/** The one part in which two texts differ, in UTF-16 units of the first: never half of a character. */
export function difference(before: string, after: string): { start: number; end: number; text: string } {
  const most = Math.min(before.length, after.length)
  let start = 0
  while (start < most && before[start] === after[start]) start++
  if (isHalf(before, start) || isHalf(after, start)) start--
  let tail = 0
  while (tail < most - start && before.at(-1 - tail) === after.at(-1 - tail)) tail++
  if (isHalf(before, before.length - tail) || isHalf(after, after.length - tail)) tail--
  return { start, end: before.length - tail, text: after.slice(start, after.length - tail) }
}

/** Whether a place lies between the halves of a surrogate pair. */
const isHalf = (text: string, at: number): boolean => /^[\uDC00-\uDFFF]/.test(text.slice(at, at + 1)) && at > 0
