import { createHash } from 'node:crypto'
import type { Response } from 'express'

/** Lets a client keep a listing as long as it asks whether it is still the same. */
export function setListingHeaders(response: Response, tagged: string): void {
  const tag = createHash('sha256').update(tagged).digest('base64url').slice(0, 27)
  // Weak: the same content may be sent compressed or not.
  response.set('ETag', `W/"${tag}"`)
  response.set('Cache-Control', 'private, no-cache')
  response.vary('Authorization')
}

/** Answers JSON text with an ETag; 304 where the client has it already. */
export function answerJson(response: Response, text: string, { tagged = text }: { tagged?: string } = {}): void {
  setListingHeaders(response, tagged)
  response.type('application/json').send(text)
}
