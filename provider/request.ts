import { promisify } from 'node:util'
import { gunzip, gunzipSync } from 'node:zlib'
import { Agent, type Dispatcher } from 'undici'
import { type Clock, SECOND, type Timer } from '../core/clock.ts'
import { AnswerTooLargeError, ProviderUnavailableError } from './errors.ts'
import { Receiver } from './receiver.ts'

const inflate = promisify(gunzip)
/** Inflated at once up to this, which is faster than the way to another thread and back: some milliseconds at the very most. */
const INFLATED_IN_PLACE = 16 * 1024

/** Bytes of answer headers: 12 KB of `Set-Cookie` have to pass (docs/provider.md, Session); more than this is no provider. */
const MAX_HEADER_BYTES = 64 * 1024
const CONNECT_TIMEOUT_MS = 10 * SECOND

interface AnswerHeaders {
  get(name: string): string | null
  getSetCookie(): string[]
}

export interface ProviderAnswer {
  status: number
  headers: AnswerHeaders
  body: Buffer
  /** The body as the provider compressed it, where it did. */
  gzipped?: Buffer
}

/** One for the process: connections to a provider are kept open between calls, and idle ones keep no process alive. */
export const providerAgent = new Agent({
  maxHeaderSize: MAX_HEADER_BYTES,
  connect: { timeout: CONNECT_TIMEOUT_MS },
})

interface RequestOptions {
  /** What is asked for, in words for error messages. Addresses are left out there: they may carry secrets. */
  what: string
  url: string
  headers?: Record<string, string>
  /** Machine time (ms) for the whole of it: connecting, headers, body. */
  timeoutMs: number
  maxBytes: number
  clock: Clock
  signal?: AbortSignal | undefined
  /** So long (machine ms) a request that is under way when `signal` is aborted may still bring its answer; none where absent. */
  graceMs?: number
  dispatcher?: Dispatcher | undefined
}

/**
 * One GET without following redirects. Throws `ProviderUnavailableError` where no whole answer came within the time,
 * `AnswerTooLargeError` for one beyond `maxBytes`, and the reason of `signal` where that is aborted before an answer is there.
 */
export async function request(options: RequestOptions): Promise<ProviderAnswer> {
  const {
    what,
    url,
    headers = {},
    timeoutMs,
    maxBytes,
    clock,
    signal,
    graceMs = 0,
    dispatcher = providerAgent,
  } = options
  signal?.throwIfAborted()
  const receiver = new Receiver({ dispatcher, url, headers: { 'accept-encoding': 'gzip', ...headers }, what, maxBytes })
  const timer = clock.timer(timeoutMs, () =>
    receiver.cancel(
      new ProviderUnavailableError(`The provider's ${what} failed: no answer within ${timeoutMs / SECOND} s`),
    ),
  )
  let grace: Timer | undefined
  const abort = (): void => {
    grace = clock.timer(graceMs, () => receiver.cancel(new Error('aborted')))
  }
  signal?.addEventListener('abort', abort, { once: true })
  try {
    const { status, headers: given, body } = await receiver.received
    const answer = { status, headers: answerHeaders(given) }
    if (body.length === 0 || given['content-encoding'] !== 'gzip') return { ...answer, body }
    const unzip = body.length <= INFLATED_IN_PLACE ? gunzipSync : inflate
    return { ...answer, body: await unzip(body, { maxOutputLength: maxBytes }), gzipped: body }
  } catch (error) {
    signal?.throwIfAborted()
    if (codeOf(error) === 'ERR_BUFFER_TOO_LARGE') throw new AnswerTooLargeError(what, maxBytes)
    if (error instanceof AnswerTooLargeError || error instanceof ProviderUnavailableError) throw error
    throw new ProviderUnavailableError(`The provider's ${what} failed: ${networkReason(error)}`)
  } finally {
    timer.cancel()
    grace?.cancel()
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

const codeOf = (error: unknown): unknown =>
  typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined

/** The error's code says what happened and holds no address. */
function networkReason(error: unknown): string {
  const code = codeOf(error)
  return typeof code === 'string' ? code : 'network error'
}
