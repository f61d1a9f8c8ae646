import express, { type Request, type RequestHandler } from 'express'
import { ServiceError } from '../../core/errors.ts'
import { parseJson } from '../../core/json.ts'

/** Far more than any request of ours; uploads have a way of their own. */
const BODY_LIMIT = 100 * 1024
const JSON_DEPTH = 16

/**
 * Reads a JSON object, whatever its content type says; `request.body` is then the object. Throws `ServiceError` `invalid_json` for
 * what is no JSON object, is nested too deep or has a key `__proto__`, for no body unless it is `optional`, and `body_too_large`.
 */
export function jsonBody({ optional = false }: { optional?: boolean } = {}): RequestHandler[] {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  return [
    express.raw({ type: () => true, limit: BODY_LIMIT }),
    (request, _response, next) => {
      const bytes = bytesOf(request)
      request.body = optional && bytes.length === 0 ? {} : parse(bytes, decoder)
      next()
    },
  ]
}

const bytesOf = ({ body }: Request): Buffer => (Buffer.isBuffer(body) ? body : Buffer.alloc(0))

function parse(bytes: Buffer, decoder: TextDecoder): object {
  let value: unknown
  try {
    value = parseJson(decoder.decode(bytes), { maxDepth: JSON_DEPTH })
  } catch {
    throw new ServiceError('invalid_json')
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new ServiceError('invalid_json')
  return value
}
