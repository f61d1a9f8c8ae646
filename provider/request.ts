import { Agent, type Response, fetch as undiciFetch } from 'undici'
import { type Clock, SECOND } from '../core/clock.ts'
import { AnswerTooLargeError, ProviderUnavailableError } from './errors.ts'

/** Bytes of answer headers: CONTRACTS.md promises 12 KB of `Set-Cookie`; more than this is no provider. */
const MAX_HEADER_BYTES = 64 * 1024
const CONNECT_TIMEOUT_MS = 10 * SECOND

export type Fetch = typeof undiciFetch

export interface ProviderAnswer {
  status: number
  headers: Response['headers']
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
  const { fetch = undiciFetch, dispatcher = providerAgent } = options
  signal?.throwIfAborted()
  const limit = new AbortController()
  const timer = clock.timer(timeoutMs, () => limit.abort())
  try {
    const response = await fetch(url, {
      headers,
      redirect: 'manual',
      dispatcher,
      signal: signal ? AbortSignal.any([signal, limit.signal]) : limit.signal,
    })
    const body = await readBody(response, { what, maxBytes })
    return { status: response.status, headers: response.headers, body }
  } catch (error) {
    signal?.throwIfAborted()
    if (error instanceof AnswerTooLargeError) throw error
    const reason = limit.signal.aborted ? `no answer within ${timeoutMs / SECOND} s` : networkReason(error)
    throw new ProviderUnavailableError(`The provider's ${what} failed: ${reason}`)
  } finally {
    timer.cancel()
  }
}

async function readBody(response: Response, { what, maxBytes }: { what: string; maxBytes: number }): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  // Leaving the loop early cancels the stream and with it the transfer.
  for await (const chunk of response.body ?? []) {
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
