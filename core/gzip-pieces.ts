import { promisify } from 'node:util'
import { constants, crc32, deflateRaw, deflateRawSync, gunzipSync } from 'node:zlib'

/**
 * Text compressed once and served ever after: a Buffer is a gzip file that joins others without being compressed again, since its blocks end at a whole
 * byte, none of them is the last one, and an empty last block follows (RFC 1951, 3.2.3). A string is text as it is. (Gzip files in a row are one too,
 * RFC 1952, 2.2, but browsers read no more than the first.)
 */
export type Piece = Buffer | string

const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff])
const LAST_BLOCK = Buffer.from([3, 0])
const TRAILER_BYTES = 8
/** Of a block that is not compressed. */
const STORED_BYTES = 0xffff

/** Text barely gets smaller with more effort or memory, and takes several times as long. */
const EFFORT = { level: constants.Z_BEST_SPEED, memLevel: 7, windowBits: 14, chunkSize: 4 * 1024 }
/** Compressed at once below this, which is faster than the way to another thread and back. */
const IN_PLACE_BYTES = 64 * 1024
const deflateElsewhere = promisify(deflateRaw)

/** Compresses a text. */
export async function gzipPiece(text: string | Buffer): Promise<Buffer> {
  const bytes = typeof text === 'string' ? Buffer.from(text) : text
  const options = { ...EFFORT, finishFlush: constants.Z_SYNC_FLUSH }
  const blocks = bytes.length < IN_PLACE_BYTES ? deflateRawSync(bytes, options) : await deflateElsewhere(bytes, options)
  return Buffer.concat([HEADER, blocks, LAST_BLOCK, trailer(crc32(bytes), bytes.length)])
}

export const textOf = (piece: Piece): string => (typeof piece === 'string' ? piece : gunzipSync(piece).toString('utf8'))

/** Bytes of the text of a piece that is smaller than 4 GiB: a gzip file ends with them. */
export const textBytes = (piece: Piece): number =>
  typeof piece === 'string' ? Buffer.byteLength(piece) : piece.readUInt32LE(piece.length - 4)

/** Joins pieces to one gzip file. */
export function joinPieces(pieces: Piece[]): Buffer {
  const joined: Buffer[] = [HEADER]
  let sum = 0
  let length = 0
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      const bytes = Buffer.from(piece)
      for (let from = 0; from < bytes.length; from += STORED_BYTES)
        joined.push(...storedBlock(bytes.subarray(from, from + STORED_BYTES)))
      sum = crc32(bytes, sum)
      length += bytes.length
    } else {
      const end = piece.length - TRAILER_BYTES
      const size = textBytes(piece)
      joined.push(piece.subarray(HEADER.length, end - LAST_BLOCK.length))
      sum = crcOfBoth(sum, piece.readUInt32LE(end), size)
      length += size
    }
  }
  joined.push(LAST_BLOCK, trailer(sum, length))
  return Buffer.concat(joined)
}

function storedBlock(bytes: Buffer): [Buffer, Buffer] {
  const head = Buffer.alloc(5)
  head.writeUInt16LE(bytes.length, 1)
  head.writeUInt16LE(bytes.length ^ 0xffff, 3)
  return [head, bytes]
}

function trailer(sum: number, length: number): Buffer {
  const bytes = Buffer.alloc(TRAILER_BYTES)
  bytes.writeUInt32LE(sum, 0)
  bytes.writeUInt32LE(length % 2 ** 32, 4)
  return bytes
}

/**
 * CRC-32 of two texts in a row, from those of each: the first one's polynomial is multiplied by x to the power of the bits that follow it, modulo the CRC's
 * polynomial (zlib's crc32_combine).
 */
function crcOfBoth(first: number, second: number, secondBytes: number): number {
  return (product(powerOfX(secondBytes), first) ^ second) >>> 0
}

/** Bits reflected: the highest one is x to the power of 0. */
const POLYNOMIAL = 0xedb88320
const ONE = 0x80000000

function product(a: number, b: number): number {
  let sum = 0
  let power = b
  for (let bit = ONE; bit !== 0; bit >>>= 1) {
    if (a & bit) sum ^= power
    power = power & 1 ? (power >>> 1) ^ POLYNOMIAL : power >>> 1
  }
  return sum >>> 0
}

/** x to the power of 8, 16, 32, …: of 2^0, 2^1, 2^2, … bytes. */
const POWERS = Array.from({ length: 32 }).reduce<number[]>((list) => {
  const last = list.at(-1)
  return [...list, last === undefined ? ONE >>> 8 : product(last, last)]
}, [])

function powerOfX(bytes: number): number {
  let power = ONE
  for (let index = 0, left = bytes; left > 0; index++, left = Math.floor(left / 2))
    if (left % 2 === 1) power = product(POWERS[index] ?? ONE, power)
  return power
}
