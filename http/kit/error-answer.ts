import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express'
import { errorText, ServiceError } from '../../core/errors.ts'
import { contextOf } from './context.ts'

/** Seconds after which a caller may try again when the service was too busy to finish. */
const BUSY_RETRY_S = 5

/** What body-parser and Express call their own errors, in ours. */
const KNOWN_TYPES: Record<string, ServiceError> = {
  'entity.parse.failed': new ServiceError('invalid_json'),
  'request.size.invalid': new ServiceError('invalid_json'),
  'encoding.unsupported': new ServiceError('unsupported_media_type'),
  'charset.unsupported': new ServiceError('unsupported_media_type'),
}

/** The error that a caller is told; anything unforeseen is `internal`. */
export function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  // What a path holds cannot be decoded: no route can be meant by it.
  if (error instanceof URIError) return new ServiceError('not_found')
  const type = typeof error === 'object' && error !== null && 'type' in error ? String(error.type) : ''
  if (type === 'entity.too.large' && error instanceof Error && 'limit' in error) {
    return new ServiceError('body_too_large', { limit: `${String(error.limit)} bytes` })
  }
  return KNOWN_TYPES[type] ?? (isBadEncoding(error) ? new ServiceError('invalid_json') : new ServiceError('internal'))
}

/** A compressed body that does not decompress comes as zlib's own error with a status of body-parser. */
const isBadEncoding = (error: unknown): boolean => error instanceof Error && 'status' in error && error.status === 400

/** docs/behaviour.md, Errors: every error answer is `{error}`. Says nothing where an answer was given or nobody is there any more. */
export function tellError(error: unknown, request: Request, response: Response): void {
  if (response.closed) return
  const answer = asServiceError(error)
  if (response.headersSent) {
    // Too late to say anything: a broken answer must not look like a whole one.
    if (!response.writableEnded) response.destroy()
    return
  }
  if (answer.status >= 500) contextOf(request).log.error({ err: error }, 'request failed')
  // Of what would have been answered: a client that kept it would be told that it has that already.
  response.removeHeader('ETag')
  if (answer.code === 'busy') response.set('Retry-After', String(BUSY_RETRY_S))
  response
    .status(answer.status)
    .set('Cache-Control', 'no-store')
    .json({ error: errorText(answer) })
}

/** The last handler of the server. */
export const errorAnswer: ErrorRequestHandler = (error: unknown, request: Request, response: Response, _next) =>
  tellError(error, request, response)

/** docs/behaviour.md, Errors: 404 for whatever has no route. */
export const unknownPath: RequestHandler = () => {
  throw new ServiceError('not_found')
}
