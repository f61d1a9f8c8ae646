import { isUtf8 } from 'node:buffer'
import type { ByteBudget } from '../core/byte-budget.ts'
import { MAX_JSON_DEPTH, MAX_JSON_VALUES, parseJson, TooManyValuesError } from '../core/json.ts'
import { ExportError, ExportTooLargeError } from './errors.ts'
import { openMemory } from './memory.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]
const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

/** What comes next: the array's bracket, its first element or end, an element after a comma, more of one, nothing. */
type Place = 'start' | 'first' | 'next' | 'element' | 'end'

interface JsonArrayOptions {
  source: AsyncIterable<Buffer>
  maxElementBytes: number
  /** What elements that are not small take, until the next is asked for. */
  budget?: ByteBudget
  maxDepth?: number
}

/**
 * Reads a JSON array from a stream of bytes, one element at a time: no more than one element and one chunk is held.
 * Throws `ExportError` for what is no JSON array, an element that is no JSON, nested deeper than `maxDepth`, or that has a key
 * `__proto__`; `ExportTooLargeError` for one of more than `maxElementBytes` or of more values than JSON from outside may have.
 */
export async function* splitJsonArray({
  source,
  maxElementBytes,
  budget,
  maxDepth = MAX_JSON_DEPTH,
}: JsonArrayOptions): AsyncGenerator<unknown> {
  let place = 'start' as Place
  let pieces: Buffer[] = []
  let bytes = 0
  let depth = 0
  let inString = false
  let escaped = false
  let count = 0
  let position = 0

  const keep = (piece: Buffer): void => {
    bytes += piece.length
    if (bytes > maxElementBytes) throw new ExportTooLargeError(`${maxElementBytes} bytes in one conversation`)
    if (piece.length > 0) pieces.push(piece)
  }
  let memory = openMemory(budget)
  const letGo = (): void => {
    memory.close()
    memory = openMemory(budget)
  }
  const take = (): unknown => {
    count++
    const element = readElement({ bytes: Buffer.concat(pieces), number: count, maxDepth })
    pieces = []
    bytes = 0
    return element
  }

  try {
    for await (const chunk of source) {
      let begin = 0
      for (let i = 0; i < chunk.length; i++, position++) {
        const byte = chunk[i] ?? 0
        if (place === 'element') {
          if (inString) {
            if (escaped) escaped = false
            else if (byte === BACKSLASH) escaped = true
            else if (byte === QUOTE) inString = false
          } else if (byte === QUOTE) inString = true
          else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
            depth++
            if (depth > maxDepth)
              throw new ExportError(`conversation ${count + 1} is nested deeper than ${maxDepth} levels`)
          } else if (depth === 0 && (byte === COMMA || byte === CLOSE_ARRAY)) {
            keep(chunk.subarray(begin, i))
            place = byte === COMMA ? 'next' : 'end'
            await memory.reach(bytes)
            yield take()
            letGo()
          } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--
        } else if (isSpace(byte) || (place === 'start' && byte === BYTE_ORDER_MARK[position])) {
          // Between elements.
        } else if (place === 'start') {
          if (byte !== OPEN_ARRAY) throw new ExportError('it is no JSON array')
          place = 'first'
        } else if (place === 'first' && byte === CLOSE_ARRAY) place = 'end'
        else if (place === 'end') throw new ExportError('something follows the JSON array')
        else {
          place = 'element'
          begin = i
          // This byte is the element's first and is looked at as such.
          i--
          position--
        }
      }
      if (place === 'element') keep(chunk.subarray(begin))
      await memory.reach(bytes)
    }
  } finally {
    letGo()
  }
  if (place !== 'end') throw new ExportError(place === 'start' ? 'it is empty' : 'the JSON array ends too early')
}

function readElement({ bytes, number, maxDepth }: { bytes: Buffer; number: number; maxDepth: number }): unknown {
  if (!isUtf8(bytes)) throw new ExportError(`conversation ${number} is not UTF-8`)
  try {
    return parseJson(bytes.toString('utf8'), { maxDepth })
  } catch (error) {
    if (error instanceof TooManyValuesError)
      throw new ExportTooLargeError(`${MAX_JSON_VALUES} values in one conversation`)
    // The parser's message quotes the text, which is somebody's conversation.
    throw new ExportError(`conversation ${number} is not JSON that can be used`)
  }
}
