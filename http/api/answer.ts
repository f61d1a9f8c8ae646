import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Response } from 'express'
import { gzipPiece, joinPieces, type Piece, textBytes } from '../../core/gzip-pieces.ts'
import { LEAST_COMPRESSED } from '../kit/compress.ts'

const unpack = promisify(gunzip)

/**
 * Lets a client keep a listing as long as it asks whether it is still the same; true where it is and 304 was answered. The tag alone
 * decides (RFC 9110): clients that add `Cache-Control: no-cache` to their own conditional request mean the caches on the way.
 */
export function answeredUnchanged(response: Response, tagged: string): boolean {
  // Weak: the same content may be sent compressed or not.
  const tag = `W/"${createHash('sha256').update(tagged).digest('base64url').slice(0, 27)}"`
  response.set('ETag', tag)
  response.set('Cache-Control', 'private, no-cache')
  response.vary('Authorization')
  if (!matches(response.req.get('if-none-match'), tag)) return false
  response.status(304).end()
  return true
}

const opaque = (tag: string): string => tag.trim().replace(/^W\//, '')

const matches = (header: string | undefined, tag: string): boolean =>
  header !== undefined && (header.trim() === '*' || header.split(',').some((each) => opaque(each) === opaque(tag)))

/** Sends text that is JSON already. */
const sendJson = (response: Response, text: string): void => {
  response.type('application/json').send(text)
}

export const takesGzip = ({ req }: Response): boolean => req.acceptsEncodings('gzip') === 'gzip'

/** Sends JSON text in pieces: as they are stored to who takes gzip, and unpacked to others; another way to compress is the middleware's. */
export async function sendPieces(response: Response, pieces: Piece[]): Promise<void> {
  const packs = takesGzip(response)
  const whole = joinPieces(packs ? await Promise.all(pieces.map(compressed)) : pieces)
  const gzip = packs && textBytes(whole) >= LEAST_COMPRESSED
  if (gzip) response.set('Content-Encoding', 'gzip')
  response.type('application/json').send(gzip ? whole : await unpack(whole))
}

/** An earlier release stored texts as they are. What is short gains nothing. */
const compressed = (piece: Piece): Piece | Promise<Piece> =>
  typeof piece === 'string' && piece.length >= LEAST_COMPRESSED ? gzipPiece(piece) : piece

/** The same with an ETag; 304 where the client has it already. */
export function answerJson(response: Response, text: string): void {
  if (!answeredUnchanged(response, text)) sendJson(response, text)
}
