import { promisify } from 'node:util'
import { gunzip, gunzipSync } from 'node:zlib'
import type { Dispatcher } from 'undici'
import type { ByteShare } from '../core/byte-budget.ts'
import { type Clock, SECOND, type Timer } from '../core/clock.ts'
import { ANSWER_TOO_LARGE, createPublicAgent } from '../core/public-agent.ts'
import { AnswerTooLargeError, ProviderUnavailableError } from './errors.ts'
import { openMemory } from './memory.ts'
import { Receiver } from './receiver.ts'

const inflate = promisify(gunzip)
/** Inflated at once up to this, which is faster than the way to another thread and back: some milliseconds at the very most. */
const INFLATED_IN_PLACE = 16 * 1024

/** Bytes of answer headers: 12 KB of `Set-Cookie` have to pass (docs/provider.md, Session); more than this is no provider. */
const MAX_HEADER_BYTES = 64 * 1024
export const CONNECT_TIMEOUT_MS = 10 * SECOND
/** Of one answer with whatever frames it: twice the largest that is read (caller.ts). */
export const MOST_BYTES = 128 * 1024 * 1024

/** The end of a gzip file: its size before it was compressed. */
const SIZE_BYTES = 4
/** What zlib's errors say of more than was allowed. */
const TOO_LARGE = 'ERR_BUFFER_TOO_LARGE'

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
  /** Gives back the memory that it takes, once nothing of it is held any more. Whoever gets an answer has to call it. */
  release(): void
}

/** One for the process: connections to a provider are kept open between calls, and idle ones keep no process alive. */
export const providerAgent = createPublicAgent({
  // Configured hosts are trusted, wherever they are.
  allowPrivate: true,
  connectMs: CONNECT_TIMEOUT_MS,
  mostBytes: MOST_BYTES,
  maxHeaderSize: MAX_HEADER_BYTES,
})

interface RequestOptions {
  /** What is asked for, in words for error messages. Addresses are left out there: they may carry secrets. */
  what: string
  url: string
  headers?: Record<string, string>
  /** Machine time (ms) for the whole of it: connecting, headers, body; not for waiting until there is memory for it. */
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
  const memory = openMemory()
  const gzip = { 'accept-encoding': 'gzip' }
  const receiver = new Receiver({ dispatcher, url, headers: { ...gzip, ...headers }, what, maxBytes, memory, clock })
  let credited = 0
  const giveUpIn = (ms: number): Timer =>
    clock.timer(ms, () => {
      const more = receiver.waitedMs() - credited
      credited += more
      if (more > 0) timer = giveUpIn(more)
      else
        receiver.cancel(
          new ProviderUnavailableError(`The provider's ${what} failed: no answer within ${timeoutMs / SECOND} s`),
        )
    })
  let timer = giveUpIn(timeoutMs)
  let grace: Timer | undefined
  const abort = (): void => {
    grace = clock.timer(graceMs, () => receiver.cancel(new Error('aborted')))
  }
  signal?.addEventListener('abort', abort, { once: true })
  try {
    const { status, headers: given, body } = await receiver.received
    const answer = { status, headers: answerHeaders(given), release: memory.close }
    if (body.length === 0 || given['content-encoding'] !== 'gzip') return { ...answer, body }
    return { ...answer, body: await unzipped({ body, maxBytes, memory }), gzipped: body }
  } catch (error) {
    memory.close()
    signal?.throwIfAborted()
    if (codeOf(error) === TOO_LARGE || codeOf(error) === ANSWER_TOO_LARGE) throw new AnswerTooLargeError(what, maxBytes)
    if (error instanceof AnswerTooLargeError || error instanceof ProviderUnavailableError) throw error
    throw new ProviderUnavailableError(`The provider's ${what} failed: ${networkReason(error)}`)
  } finally {
    timer.cancel()
    grace?.cancel()
    signal?.removeEventListener('abort', abort)
  }
}

/** Asks for the memory that it says it will take (RFC 1952, ISIZE), and where that was not all, for as much as it may take. */
async function unzipped({
  body,
  maxBytes,
  memory,
}: {
  body: Buffer
  maxBytes: number
  memory: ByteShare
}): Promise<Buffer> {
  const unzip = body.length <= INFLATED_IN_PLACE ? gunzipSync : inflate
  const told = body.length < SIZE_BYTES ? 0 : body.readUInt32LE(body.length - SIZE_BYTES)
  if (told > 0 && told < maxBytes) {
    await memory.reach(body.length + told)
    try {
      return await unzip(body, { maxOutputLength: told })
    } catch (error) {
      if (codeOf(error) !== TOO_LARGE) throw error
    }
  }
  await memory.reach(body.length + maxBytes)
  return unzip(body, { maxOutputLength: maxBytes })
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
