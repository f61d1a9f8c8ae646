import { createHash } from 'node:crypto'
import type { Response } from 'express'

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
export const sendJson = (response: Response, text: string): void => {
  response.type('application/json').send(text)
}

/** The same with an ETag; 304 where the client has it already. */
export function answerJson(response: Response, text: string): void {
  if (!answeredUnchanged(response, text)) sendJson(response, text)
}
