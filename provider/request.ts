import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { Agent, type fetch as undiciFetch, request as undiciRequest } from 'undici'
import { type Clock, SECOND } from '../core/clock.ts'
import { AnswerTooLargeError, ProviderUnavailableError } from './errors.ts'

const inflate = promisify(gunzip)

/** Bytes of answer headers: CONTRACTS.md promises 12 KB of `Set-Cookie`; more than this is no provider. */
const MAX_HEADER_BYTES = 64 * 1024
const CONNECT_TIMEOUT_MS = 10 * SECOND

export type Fetch = typeof undiciFetch

export interface AnswerHeaders {
  get(name: string): string | null
  getSetCookie(): string[]
}

export interface ProviderAnswer {
  status: number
  headers: AnswerHeaders
  body: Buffer
}

/** One for the process: connections to a provider are kept open between calls, and idle ones keep no process alive. */
export const providerAgent = new Agent({
  maxHeaderSize: MAX_HEADER_BYTES,
  connect: { timeout: CONNECT_TIMEOUT_MS },
})

export interface RequestOptions {
  /** What is asked for, in words for error messages. Addresses are left out there: they may carry secrets. */
  what: string
  url: string
  headers?: Record<string, string>
  /** Machine time (ms) for the whole of it: connecting, headers, body. */
  timeoutMs: number
  maxBytes: number
  clock: Clock
  signal?: AbortSignal | undefined
  fetch?: Fetch | undefined
  dispatcher?: Agent
}

/**
 * One GET without following redirects. Throws `ProviderUnavailableError` where no whole answer came within the time,
 * `AnswerTooLargeError` for one beyond `maxBytes`, and the reason of `signal` when that is aborted.
 */
export async function request(options: RequestOptions): Promise<ProviderAnswer> {
  const { what, url, headers = {}, timeoutMs, maxBytes, clock, signal } = options
  const { fetch, dispatcher = providerAgent } = options
  signal?.throwIfAborted()
  // One controller a request, let go of at its end: a signal made of a long-lived one would be kept by that for ever.
  const ending = new AbortController()
  const abort = (): void => ending.abort()
  signal?.addEventListener('abort', abort, { once: true })
  let late = false
  const timer = clock.timer(timeoutMs, () => {
    late = true
    abort()
  })
  const bounds = { what, maxBytes }
  try {
    if (fetch) {
      const response = await fetch(url, { headers, redirect: 'manual', dispatcher, signal: ending.signal })
      return { status: response.status, headers: response.headers, body: await readBody(response.body ?? [], bounds) }
    }
    const accepting = { 'accept-encoding': 'gzip', ...headers }
    const {
      statusCode,
      headers: given,
      body,
    } = await undiciRequest(url, {
      headers: accepting,
      dispatcher,
      signal: ending.signal,
    })
    const answered = answerHeaders(given)
    const bytes = await readBody(body, bounds)
    const gzipped = answered.get('content-encoding') === 'gzip' && bytes.length > 0
    return { status: statusCode, headers: answered, body: gzipped ? await unzipped(bytes, bounds) : bytes }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof AnswerTooLargeError) throw error
    const reason = late ? `no answer within ${timeoutMs / SECOND} s` : networkReason(error)
    throw new ProviderUnavailableError(`The provider's ${what} failed: ${reason}`)
  } finally {
    timer.cancel()
    signal?.removeEventListener('abort', abort)
  }
}

const answerHeaders = (headers: Record<string, string | string[] | undefined>): AnswerHeaders => ({
  get: (name) => {
    const value = headers[name]
    return value === undefined ? null : typeof value === 'string' ? value : value.join(', ')
  },
  getSetCookie: () => [headers['set-cookie'] ?? []].flat(),
})

interface Bounds {
  what: string
  maxBytes: number
}

async function unzipped(bytes: Buffer, { what, maxBytes }: Bounds): Promise<Buffer> {
  try {
    return await inflate(bytes, { maxOutputLength: maxBytes })
  } catch (error) {
    const tooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
    throw tooLarge ? new AnswerTooLargeError(`The provider's ${what} is larger than ${maxBytes} bytes`) : error
  }
}

async function readBody(body: AsyncIterable<Uint8Array> | [], { what, maxBytes }: Bounds): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop early cancels the stream and with it the transfer.
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new AnswerTooLargeError(`The provider's ${what} is larger than ${maxBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** `fetch` wraps the socket's error; its code says what happened and holds no address. */
function networkReason(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : 'network error'
}
